package tests

import (
	"fmt"
	"os"
	"testing"

	"github.com/sluicedb/sluice/embedded/hometest"
)

func TestMain(m *testing.M) {
	if home := os.Getenv(childEnv); home != "" {
		if err := serveChild(home); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	hometest.Main(m)
}
