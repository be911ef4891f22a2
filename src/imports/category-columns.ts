const word =
  /^(?:categor(?:y|ies)|kategorien?|catégories?|categorías?|categorias?|categorieën|kategorie|категори[яи]|section|warengruppe|artikelgruppe)$/u
const below =
  /^(?:sub ?categor(?:y|ies)|unterkategorien?|sous ?catégories?|subcategorías?|sottocategori[ae]|подкатегория)$/u
/** Words of headers that hold something of a category other than its name, or a category of taxes. */
const others = /\b(?:tax|slug|url|link|image|icon|description|order|sort|position|count|commission|color|colour)\b/u

/** Whether a cell can be a category's name, and not its number. */
export const isCategoryName = (cell: string) => /[^\d\s.,;|]/.test(cell)

/**
 * How well a header fits that has a category in it (`main category`, `category id`), smaller is better, a category below
 * another last; undefined when it has none.
 */
export const categoryRank = (plain: string) => {
  if (others.test(plain)) return undefined
  const words = plain.split(" ")
  if (below.test(plain) || words.some((one) => below.test(one)) || /\bsub categor/.test(plain)) {
    return 100 + words.length
  }
  return words.some((one) => word.test(one)) ? words.length : undefined
}
