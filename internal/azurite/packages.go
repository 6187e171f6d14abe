package azurite

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// Packages installs other npm packages than Azurite's for a test, in the same manner: once, into the user's cache
// directory, exactly what the lock file names, running no code of theirs. It returns the folder that has node_modules in
// it. The folder is called after name and the lock file.
//
// Where npm is missing or cannot install them it skips t, or fails it if Variable says so.
func Packages(t testing.TB, name string, packageJSON, packageLock []byte) string {
	t.Helper()
	mode := os.Getenv(Variable)
	if skip, err := refused(mode); err != nil {
		t.Fatal(err)
	} else if skip != "" {
		t.Skip(skip)
	}
	dir, err := installPackages(t.Context(), name, manifest{packageJSON, packageLock})
	if skip, err := verdict(mode, err); err != nil {
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
