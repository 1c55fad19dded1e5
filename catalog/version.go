package catalog

import "context"

// Versions returns the version of the extension in the database that x is connected to, 0 for none, and the newest one,
// which this program installs.
func Versions(ctx context.Context, x Executor) (installed, newest int, err error) {
	if installed, err = installedVersion(ctx, x); err != nil {
		return 0, 0, err
	}
	newest, err = newestMigration()
	return max(installed, 0), newest, err
}
