package embedded

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is who the server runs as; nil: as this process.
type account struct {
	name     string
	uid, gid uint32
}

// chooseAccount finds whom to run the server as, because it refuses to run as root. It gives dir to that account and
// sees to it that the account can reach it.
func chooseAccount(dir, data string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	a, err := ownerOf(data)
	if err != nil {
		return nil, err
	}
	if a == nil {
		if a, err = unprivileged(); err != nil {
			return nil, err
		}
	}
	if err := os.Chown(dir, int(a.uid), int(a.gid)); err != nil {
		return nil, fmt.Errorf("cannot give directory %s to user %s: %w", dir, a.name, err)
	}
	return a, a.reaches(dir)
}

// ownerOf returns the owner of a cluster that exists, nil for none.
func ownerOf(data string) (*account, error) {
	info, err := os.Stat(data)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fmt.Errorf("cannot tell who owns %s", data)
	}
	if st.Uid == 0 {
		return nil, fmt.Errorf("the cluster in %s belongs to root, and Postgres does not run as root; give it to another user: chown -R postgres %s", data, data)
	}
	a := &account{name: strconv.Itoa(int(st.Uid)), uid: st.Uid, gid: st.Gid}
	if u, err := user.LookupId(a.name); err == nil {
		a.name = u.Username
	}
	return a, nil
}

// unprivileged returns user postgres, else nobody.
func unprivileged() (*account, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &account{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("postgres does not run as root, and this machine has neither user postgres nor nobody; add one: useradd --system postgres")
}

// reaches returns an error that names the first directory on the way to dir which the account may not enter.
func (a *account) reaches(dir string) error {
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		if err != nil {
			return err
		}
		if !a.enters(info) {
			return fmt.Errorf("user %s, whom the embedded home runs as, cannot reach %s: %s is closed to it; open it (chmod o+x %s) or choose another directory",
				a.name, dir, parent, parent)
		}
		if parent == filepath.Dir(parent) {
			return nil
		}
	}
}

// enters reports whether the mode of a directory lets the account search it.
func (a *account) enters(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return true
	case st.Uid == a.uid:
		return info.Mode()&0o100 != 0
	case st.Gid == a.gid:
		return info.Mode()&0o010 != 0
	default:
		return info.Mode()&0o001 != 0
	}
}

// credential is what a child process is started with; nil where it runs as this process.
func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}
