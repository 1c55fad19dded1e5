package engines

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// CheckBool is the Check of options that are Booleans.
func CheckBool(v string) error {
	_, err := ParseBool(v, false)
	return err
}

// ParseBool reads the value of a Boolean option in the spellings that Postgres takes whole; unset is what an empty one means.
func ParseBool(v string, unset bool) (bool, error) {
	switch strings.ToLower(v) {
	case "":
		return unset, nil
	case "true", "on", "yes", "1", "t":
		return true, nil
	case "false", "off", "no", "0", "f":
		return false, nil
	default:
		return false, fmt.Errorf("%q is not a Boolean value", v)
	}
}

// CheckSeconds is the Check of options that are timeouts.
func CheckSeconds(v string) error {
	if n, err := strconv.Atoi(v); err != nil || n < 1 || n > 3600 {
		return errors.New("a number of seconds from 1 to 3600 is required")
	}
	return nil
}
