package azurite

import (
	"bytes"
	"context"
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
	return obtain(t, func() (string, error) {
		return installPackages(t.Context(), name, manifest{packageJSON, packageLock})
	})
}

// CheckLockFile fails t if a package-lock.json contains download addresses, or if it does not contain hashes of the
// packages.
func CheckLockFile(t testing.TB, packageLock []byte) {
	t.Helper()
	if bytes.Contains(packageLock, []byte(`"resolved"`)) {
		t.Error(`package-lock.json contains "resolved" members: create it with omit-lockfile-registry-resolved`)
	}
	if !bytes.Contains(packageLock, []byte(`"integrity"`)) {
		t.Error("package-lock.json contains no hashes")
	}
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
