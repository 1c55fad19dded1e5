package archtest

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxLines is the longest that a hand-written Go file may be; most are under 400.
const maxLines = 700

var generated = regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.$`)

func TestFileSize(t *testing.T) {
	const root = "../.."
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		files++
		n, err := lines(path)
		if n > maxLines {
			t.Errorf("%s has %d lines, more than %d: split it by noun", filepath.ToSlash(path), n, maxLines)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("found only %d Go files below %s", files, root)
	}
}

// lines counts the lines of a file, 0 where it is generated.
func lines(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); n++ {
		if generated.MatchString(s.Text()) {
			return 0, nil
		}
	}
	return n, nil
}
