package azurite

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// Packages installs other npm packages for a test in the same way as Azurite: once, into the user's cache directory,
// exactly the packages of the lock file, without running their scripts. It returns the folder that contains
// node_modules. Its name consists of name and a hash of both files.
//
// If npm is missing or fails, Packages skips t, or fails it if Variable is "require".
func Packages(t testing.TB, name string, packageJSON, packageLock []byte) string {
	t.Helper()
	mode := os.Getenv(Variable)
	if skip, err := checkMode(mode); err != nil {
		t.Fatal(err)
	} else if skip != "" {
		t.Skip(skip)
	}
	dir, err := installPackages(t.Context(), name, manifest{packageJSON, packageLock})
	if skip, err := skipOrFail(mode, err); err != nil {
		t.Fatal(err)
	} else if skip != "" {
		t.Skip(skip)
	}
	return dir
}

func installPackages(ctx context.Context, name string, m manifest) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	s := site{installDir: filepath.Join(cache, name+"-"+hash(m.packages, m.lock)), other: &m}
	return s.installDir, s.install(ctx)
}
