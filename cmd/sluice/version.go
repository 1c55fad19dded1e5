package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	bindings "github.com/duckdb/duckdb-go-bindings"
	"github.com/spf13/cobra"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of sluice, Go and DuckDB",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "sluice  %s\ncommit  %s\ngo      %s %s/%s\nduckdb  %s\n",
				buildVersion(), buildCommit(), runtime.Version(), runtime.GOOS, runtime.GOARCH, bindings.LibraryVersion())
			return err
		},
	}
}

// buildVersion is the module's version, "devel" for a build from a work tree.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// buildCommit is the commit that the binary was built from, "unknown" outside of a repository.
func buildCommit() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return "unknown"
	}
	commit, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " (with local changes)"
		}
	}
	return commit + dirty
}
