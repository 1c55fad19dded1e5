package main

import (
	"time"

	"github.com/spf13/cobra"
)

// clientFlags bound what clients may hold without giving anything back.
type clientFlags struct {
	logins      int
	timeout     time.Duration
	keepAlive   time.Duration
	userTimeout time.Duration
}

func (f *clientFlags) add(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.logins, "login-limit", 1000, "`N` clients may be logging in at once; one more ends the login that has lasted longest")
	cmd.Flags().DurationVar(&f.timeout, "login-timeout", time.Minute, "a login may last for this `DURATION`")
	cmd.Flags().DurationVar(&f.keepAlive, "tcp-keepalive", time.Minute, "a client may be silent for this `DURATION` before the system asks whether it is there; one that does not answer is gone after as long again")
	cmd.Flags().DurationVar(&f.userTimeout, "tcp-user-timeout", 0, "sent data may go without an acknowledgement for this `DURATION` (0: as the system does); it ends clients that stop reading, too")
}
