package session

import (
	"fmt"
	"slices"
	"strings"

	"chaperone/relay/program"
	"chaperone/server/project"
)

// unseen says which of the session's tabs its CDP clients do not see or cannot use, and what to do; clients themselves
// are told nothing of such tabs.
func (s *Service) unseen(l *living) []string {
	var usable, read int
	paused := map[string]int{}
	for _, t := range l.browser.Tabs() {
		switch {
		case t.Level != program.LevelAct:
			read++
		case t.Suspended != "":
			paused[t.Suspended]++
		default:
			usable++
		}
	}
	told := s.taken(l)
	if usable == 0 && len(paused) == 0 {
		told = append(told, l.empty())
	}
	if read > 0 {
		told = append(told, fmt.Sprintf("%s shared to Read, which CDP clients do not see: share %s to Act in the extension's popup", tabs(read), pronoun(read)))
	}
	for why, n := range paused {
		told = append(told, fmt.Sprintf("%s paused and cannot be used now: %s", tabs(n), strings.TrimSuffix(why, ".")))
	}
	slices.Sort(told)
	return told
}

// taken names the project's other sessions that use tabs which the person shared.
func (s *Service) taken(l *living) []string {
	var told []string
	for _, other := range s.beside(l) {
		n := 0
		for _, t := range other.browser.Tabs() {
			if t.Session == other.id {
				n++
			}
		}
		if n > 0 {
			told = append(told, fmt.Sprintf("%s in use by session %s: chaperone session close %s frees %s", tabs(n), other.id, other.id, pronoun(n)))
		}
	}
	return told
}

// beside are the sessions in the same person's browser and project.
func (s *Service) beside(l *living) []*living {
	if l.backend != project.Shared {
		return nil
	}
	s.livingMu.Lock()
	defer s.livingMu.Unlock()
	var others []*living
	for _, other := range s.living {
		if other != l && other.browser != nil && other.backend == l.backend && other.account == l.account && other.project.ID == l.project.ID {
			others = append(others, other)
		}
	}
	return others
}

// empty says how clients get a first tab.
func (l *living) empty() string {
	if l.backend == project.Shared {
		return "CDP clients see no tab yet: share one to Act in the extension's popup, or let a client open one"
	}
	return "CDP clients see no tab yet: they open their own"
}

func tabs(n int) string {
	if n == 1 {
		return "1 tab is"
	}
	return fmt.Sprintf("%d tabs are", n)
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}
