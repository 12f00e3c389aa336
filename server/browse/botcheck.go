package browse

import (
	"slices"
	"strings"

	"chaperone/server/fault"
)

// mostCheckLines is how long a check is at most: it is a page of its own, not a box on a page, nor a page about such checks.
const mostCheckLines = 25

// isBotCheck knows well-known checks by what they visibly say. lines are those of the page's snapshot, if there was one.
func isBotCheck(title string, lines []string) bool {
	title = strings.ToLower(title)
	if says(title, ownTitles()) {
		return true
	}
	return len(lines) <= mostCheckLines && (says(title, checkSigns()) || says(strings.ToLower(strings.Join(lines, "\n")), checkSigns()))
}

func says(text string, signs []string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) })
}

// ownTitles are those of checks and of nothing else.
func ownTitles() []string {
	return []string{"just a moment...", "attention required! | cloudflare", "ddos-guard", "vercel security checkpoint", "pardon our interruption"}
}

// checkSigns are what checks say.
func checkSigns() []string {
	return []string{
		"are you a robot", "are you human", "human verification", "i'm not a robot", "i am not a robot", "i am human", "you are not a robot", "you're not a robot",
		"verify you are human", "verify you're human", "verifying you are human", "verify that you are human", "verify you are a human", "prove you are human", "prove you're human",
		"confirm you are human", "confirm that you are human", "press & hold to confirm you are", "press and hold to confirm you are",
		"checking your browser before", "checking if the site connection is secure", "performing security verification", "needs to review the security of your connection",
		"unusual traffic from your", "complete the security check to access", "containing a cloudflare security challenge", "hcaptcha challenge",
	}
}

func botCheck() error {
	return fault.New(fault.BotCheck, "The site asks whether a person is there", "This is a dead end for an agent: tell the person, or use another source.")
}
