package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// named matches a directory in the layout of CONTRIBUTING.md.
var named = regexp.MustCompile(`(?m)(?:^|[ ,])([a-z]+(?:/[a-z]+)*)/(?:[ ,]|$)`)

// TestLayout has CONTRIBUTING.md name each directory of the tree, and none that there is not. What is in internal/ is for tests, and
// named as a whole.
func TestLayout(t *testing.T) {
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n## Layout\n")
	layout, _, _ := strings.Cut(rest, "\n## ")
	var there, said []string
	for _, pattern := range []string{"*", "proxy/*", "parser/*", "engines/*", "cmd/*", "embedded/*"} {
		found, err := filepath.Glob("../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range found {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				continue
			}
			if name := filepath.Base(dir); name != "testdata" && name != "bin" && !strings.HasPrefix(name, ".") {
				there = append(there, name)
			}
		}
	}
	for _, m := range named.FindAllStringSubmatch(layout, -1) {
		said = append(said, strings.Split(m[1], "/")...)
	}
	if len(there) < 20 || len(said) < 20 {
		t.Fatalf("found %d directories, and %d in the layout", len(there), len(said))
	}
	for _, name := range there {
		if !slices.Contains(said, name) {
			t.Errorf("the layout of CONTRIBUTING.md lacks %s/", name)
		}
	}
	for _, name := range said {
		if !slices.Contains(there, name) {
			t.Errorf("the layout of CONTRIBUTING.md names %s/, which there is not", name)
		}
	}
}
