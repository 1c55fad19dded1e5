// Package limit says how much a statement may yield, and how long engines may work for it, and counts what it does. A limit
// is the least of what superusers have set for the roles of the session and what the session has set for itself, so that
// nobody raises his own.
package limit
