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

// CheckPairs is the Check of options that are lists of pairs.
func CheckPairs(v string) error {
	_, err := ParsePairs(v)
	return err
}

// ParsePairs reads a list of names with what each stands for: "a=b, c=d".
func ParsePairs(v string) (map[string]string, error) {
	pairs := map[string]string{}
	for part := range strings.SplitSeq(v, ",") {
		name, value, ok := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || value == "" || strings.Contains(value, "=") {
			return nil, fmt.Errorf("%q is not a list of pairs such as 'a=b, c=d'", v)
		}
		if _, twice := pairs[name]; twice {
			return nil, fmt.Errorf("%q is in the list twice", name)
		}
		pairs[name] = value
	}
	return pairs, nil
}
