package pages

import "iter"

// Each returns the pages from cursor, "" for the first, to the last. read reads one page, and
// cursorOf returns the address of its cursor, which is "" in the last page. After an error the
// sequence ends; the page of that pair has nothing but the cursor of the page that failed.
func Each[P any](cursor string, read func(cursor string) (P, error), cursorOf func(*P) *string) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		for at := cursor; ; {
			page, err := read(at)
			if err != nil {
				var failed P
				*cursorOf(&failed) = at
				yield(failed, err)
				return
			}
			if at = *cursorOf(&page); !yield(page, nil) || at == "" {
				return
			}
		}
	}
}
