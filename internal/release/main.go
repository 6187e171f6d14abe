// Command release makes the tags of a release in this clone, and pushes nothing:
//
//	go run ./internal/release v0.1.0
//
// The tags are those of the module and of the modules next to it. All are on one commit, which no branch contains: in it the
// go.mod files of the nested modules require the version instead of replacing the module by a folder.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 || !strings.HasPrefix(os.Args[1], "v") {
		fmt.Fprintln(os.Stderr, "usage, in the root of a clone: go run ./internal/release v0.1.0")
		os.Exit(2)
	}
	if err := release(".", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("git push origin %s\n", strings.Join(tags(os.Args[1]), " "))
}

func tags(version string) []string {
	all := []string{version}
	for _, folder := range nested {
		all = append(all, folder+"/"+version)
	}
	return all
}

// release tags a commit on top of HEAD of the clone, which it makes in a clone of its own.
func release(clone, version string) error {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tree, err := filepath.Abs(clone)
	if err != nil {
		return err
	}
	fresh := filepath.Join(dir, "tree")
	if err := run(tree, os.Environ(), "git", "clone", "--quiet", tree, fresh); err != nil {
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(fresh, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if heading := "## [" + strings.TrimPrefix(version, "v") + "]"; !strings.Contains(string(changelog), heading) {
		return fmt.Errorf("CHANGELOG.md of the last commit has no section %s", heading)
	}
	// What is served has no .git folder.
	source := filepath.Join(dir, "source")
	if err := os.CopyFS(source, os.DirFS(fresh)); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(source, ".git")); err != nil {
		return err
	}
	if err := serve(source, filepath.Join(dir, "proxy"), version); err != nil {
		return err
	}
	for _, folder := range nested {
		for _, name := range []string{"go.mod", "go.sum"} {
			text, err := os.ReadFile(filepath.Join(source, folder, name))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(fresh, folder, name), text, 0o644); err != nil {
				return err
			}
		}
	}
	if err := run(fresh, os.Environ(), "git", "commit", "--quiet", "--all", "-m", "release: "+version); err != nil {
		return err
	}
	for _, tag := range tags(version) {
		if err := run(fresh, os.Environ(), "git", "tag", tag); err != nil {
			return err
		}
	}
	return run(tree, os.Environ(), "git", append([]string{"fetch", "--quiet", fresh, "tag"}, strings.Split(strings.Join(tags(version), " tag "), " ")...)...)
}
