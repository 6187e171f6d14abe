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

// Items returns the items of pages one after the other, and if limit is more than 0, at most so many. It requests no page
// before the loop needs it.
func Items[P, I any](pages iter.Seq2[P, error], limit int, itemsOf func(P) []I) iter.Seq2[I, error] {
	return func(yield func(I, error) bool) {
		left := limit
		for page, err := range pages {
			if err != nil {
				var none I
				yield(none, err)
				return
			}
			for _, item := range itemsOf(page) {
				if left--; !yield(item, nil) || left == 0 {
					return
				}
			}
		}
	}
}
