package catalog

import "sync"

// Cache holds the newest committed snapshot of each database for all sessions of the proxy. The zero value is ready.
type Cache struct {
	mu        sync.RWMutex
	databases map[string]*Snapshot
}

// Get returns the snapshot of a database, nil where there is none. Whether it is current only home can say: a session
// compares its Version with the one in Facts.
//
// A database without the extension has none, so that each new session asks again.
func (c *Cache) Get(database string) *Snapshot {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.databases[database]
}

// Put offers a snapshot. It is kept unless a newer one is there, or it is Uncommitted and so not for others to see. One
// that says that the extension is gone takes away what is there.
func (c *Cache) Put(database string, s *Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch old := c.databases[database]; {
	case s == nil || s.Uncommitted:
	case !s.Installed:
		delete(c.databases, database)
	case old == nil || old.Version < s.Version:
		if c.databases == nil {
			c.databases = make(map[string]*Snapshot)
		}
		c.databases[database] = s
	}
}

// Invalidate forgets the snapshot of a database.
func (c *Cache) Invalidate(database string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.databases, database)
}
