package embedded

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

var errPortTaken = errors.New("the port was taken by another process")

// freePort finds a port that nobody listens on, below the range that the kernel takes outgoing ports from: there, a
// port that is free now may be gone before the server binds it.
func freePort() (int, error) {
	const low, high = 20000, 32768
	for range 200 {
		port := low + rand.IntN(high-low)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		return port, l.Close()
	}
	return 0, fmt.Errorf("found no free port between %d and %d on 127.0.0.1", low, high)
}
