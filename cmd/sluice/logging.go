package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
)

// logFlags say what is logged and how.
type logFlags struct {
	level  string
	format string
}

func (f *logFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.level, "log-level", "info", "`LEVEL`: debug, info, warn or error")
	cmd.Flags().StringVar(&f.format, "log-format", "text", "`FORMAT`: text or json")
}

// logger makes what the flags ask for, writing to w.
func (f logFlags) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		return nil, fmt.Errorf("--log-level %s: choose debug, info, warn or error", f.level)
	}
	opts := &slog.HandlerOptions{Level: level}
	switch f.format {
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	}
	return nil, fmt.Errorf("--log-format %s: choose text or json", f.format)
}
