import { sameKindAs } from "./kinds.ts"

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(" "))

/**
 * Words that people add to what they look for. They count only in a search that has nothing else; among listings that
 * match equally well, those whose names have them come first.
 */
export const stopWords = setOf(
  "a an and at around best by closest for from i in is me my near nearby nearest now of on open or our the to top with your " +
    "about am any anyone anywhere are be buy can could do does eat find get give go good great has have how im id like looking " +
    "love need please really recommend recommended recommendation recommendations sell selling sells serve serves serving " +
    "show some somewhere tell that there these this us want we what whats where wheres which who whos would you " +
    "au aux bei dans das dem del della den der des die du ein eine em en et gibt il les los nel un una und une wo"
)

/**
 * Words that say that it is a business, and not of which kind. They count as stop words do where a search has a word that
 * says more than a place.
 */
export const genericWords = setOf(
  "business businesses company eatery food foods joint joints place places restaurant restaurants service services shop " +
    "shoppe shops spot spots store stores geschaft laden loja lojas magasin magasins negozio restaurante restaurantes " +
    "ristorante ristoranti sklep tienda tiendas winkel"
)

/** What means "near me", and would be taken for words of names. */
const nearMe =
  /\b(?:cerca de m[ií]|perto de mim|pr[eè]s de (?:moi|chez moi)|vicino a me|in (?:der|meiner) n[aä]he|in de buurt)(?!\p{L})/giu

export const withoutNearMe = (search: string): string => search.replaceAll(nearMe, " ")

/** `fast food` is a kind. */
const isGeneric = (word: string, words: ReadonlyArray<string>) =>
  genericWords.has(word) && !(word === "food" && words.includes("fast"))

/**
 * The words of a search that tell what is looked for; all of them where none does. `isPlace`: whether a word is part of a
 * place's name.
 */
export const contentOf = (words: ReadonlyArray<string>, isPlace: (word: string) => boolean): ReadonlyArray<string> => {
  const content = words.filter((word) => !stopWords.has(word))
  const special = content.filter((word) => !isGeneric(word, content))
  const tellsKind = special.some((word) => sameKindAs(word).length > 0 || !isPlace(word))
  return tellsKind ? special : content.length > 0 ? content : words
}
