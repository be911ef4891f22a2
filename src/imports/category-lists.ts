import { plainHeader } from "./header-words.ts"

const lists = new Set([
  ...["categories", "categories x y z", "collections", "kategorien", "catégories", "categorías", "categorias"],
  ...["categorieën", "категории", "item categories", "product categories"]
])

/** Whether commas separate categories in a column of this name: `Soups, salads` is one category elsewhere. */
export const isCategoryList = (name: string) => lists.has(plainHeader(name))

/** What programs put everything into. */
const everything = /^(?:all|all (?:collections|products|items)|home|root|default category|uncategori[sz]ed)$/i

const clean = (names: ReadonlyArray<string>) =>
  names.map((name) => name.replace(/\\,/g, ",").trim()).filter((name) => name !== "")

/**
 * The one category of a cell: of several (`;`, `|`, a line each; in a list also `,`) the one with the longest path, else
 * the first; of a path (`Clothing > Shirts`) the last. What holds everything, such as `All products`, comes last.
 */
export const oneCategory = (cell: string, isList: boolean) => {
  const entries = clean(cell.split(isList ? /[;|\n\r]|(?<!\\),/ : /[;|\n\r]/))
  const paths = entries.map((entry) =>
    clean(entry.split(isList && entry.startsWith("Default Category/") ? "/" : ">")).filter((name, at, all) =>
      all.length === 1 || !everything.test(name)
    )
  )
  const named = paths.filter(([first = "", ...more]) => more.length > 0 || !everything.test(first))
  const [best] = (named.length > 0 ? named : paths).toSorted((a, b) => b.length - a.length)
  return best?.at(-1) ?? cell
}
