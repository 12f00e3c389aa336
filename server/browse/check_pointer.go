package browse

import (
	"fmt"
	"slices"
)

// What an upload holds at most.
const (
	mostFiles     = 10
	mostFileBytes = 10 << 20 // of all together
	longestFile   = 200      // bytes of a name
)

// longestExpression bounds what eval runs.
const longestExpression = 50_000

func (a Action) isPlainClick() bool { return (a.Button == "" || a.Button == "left") && a.Count <= 1 }

func (a Action) checkClick() error {
	return needs("click needs ref, or role and name; button is left or right, and count 1 or 2",
		a.names(), slices.Contains([]string{"", "left", "right"}, a.Button), a.Count >= 0 && a.Count <= 2)
}

func (a Action) checkPointer() error {
	switch a.Action {
	case "drag":
		return needs("drag needs ref, or role and name, and to; at is center, top, bottom, left or right",
			a.names(), a.To != "", slices.Contains([]string{"", "center", "top", "bottom", "left", "right"}, a.At))
	case "dialog":
		return needs("dialog needs accept", a.Accept != nil)
	case "eval":
		return needs(fmt.Sprintf("eval needs js, of at most %d characters", longestExpression),
			a.JS != "", len(a.JS) <= longestExpression)
	case "upload":
		return a.checkUpload()
	}
	return needs(a.Action+" needs ref, or role and name", a.names())
}

func (a Action) checkUpload() error {
	size := 0
	for _, f := range a.Files {
		size += len(f.Data)
		if f.Name == "" || len(f.Name) > longestFile || len(f.MIME) > longestFile {
			return missing(fmt.Sprintf("each file has a name, of at most %d bytes", longestFile))
		}
		if f.Data == nil {
			return missing("each file has data, which is empty for a file with nothing in it")
		}
	}
	return needs(fmt.Sprintf("upload needs ref, or role and name, and 1 to %d files of at most %d MiB together", mostFiles, mostFileBytes>>20),
		a.names(), len(a.Files) > 0, len(a.Files) <= mostFiles, size <= mostFileBytes)
}
