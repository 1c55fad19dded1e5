package pgtest

import (
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Answers runs the script at path against bare Postgres and returns what it answered to each command. It is for a
// Postgres of another version than the one that the files record: what a command answers is the version's own affair, and
// even a script that waits for what this version never says has an answer.
func Answers(t *testing.T, path string, postgres Target) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := newScript(t, postgres)
	var answers []string
	datadriven.RunTestFromString(t, string(text), func(t *testing.T, d *datadriven.TestData) string {
		answers = append(answers, s.run(t, d))
		return d.Expected
	})
	return answers
}

// VerifyAnswers runs the script at path against a target that must answer as Answers says bare Postgres did. A file
// path.proxy-diff records a divergence of the proxy's from the version of the files, and says nothing of others: where
// one exists, nothing is compared.
func VerifyAnswers(t *testing.T, path string, target Target, answers []string) {
	if diff, err := os.ReadFile(path + ".proxy-diff"); err == nil {
		first, _, _ := strings.Cut(string(diff), "\n")
		t.Skip("the proxy differs here by intent: ", first)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := newScript(t, target)
	var at, wrong int
	datadriven.RunTestFromString(t, string(text), func(t *testing.T, d *datadriven.TestData) string {
		want := answers[at]
		at++
		if got := s.run(t, d); got != want && wrong < 5 {
			wrong++
			t.Logf("%s: %s\n%s\nPostgres:\n%s%s:\n%s", d.Pos, d.FullCmd(), clip(d.Input), want, target.Name, got)
		}
		return d.Expected
	})
	if wrong > 0 {
		t.Errorf("%s differs from Postgres", target.Name)
	}
}
