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
	cmd.Flags().IntVar(&f.logins, "login-limit", 1000, "how `many` clients may be logging in at once; one more ends the login that has lasted longest")
	cmd.Flags().DurationVar(&f.timeout, "login-timeout", time.Minute, "how long a login may last")
	cmd.Flags().DurationVar(&f.keepAlive, "tcp-keepalive", time.Minute, "how long a client may be silent before the system asks whether it is there; one that does not answer is gone after as long again")
	cmd.Flags().DurationVar(&f.userTimeout, "tcp-user-timeout", 0, "how long sent data may go without an acknowledgement (0: as the system does); it ends clients that stop reading, too")
}
