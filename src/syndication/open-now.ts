/** What people say for "open now". `open late`, `open 24 hours`, `open today` say something else. */
const said =
  /(?<!\p{L})(?:(?:which|that|who)(?: is| are|'s)? |currently |still )?(?:open (?:right )?now|now open|open at the moment|currently open|still open|(?:jetzt|gerade) (?:ge[oö]ffnet|offen)|ouverte?s? (?:maintenant|en ce moment)|abiert[oa]s? ahora|apert[oaie] (?:ora|adesso)|aberto agora)(?!\p{L})/iu

/** The search without the words that ask for what is open now; undefined where it does not ask for that. */
export const openNowOf = (query: string): string | undefined => {
  const match = said.exec(query)
  if (match === null) return undefined
  return `${query.slice(0, match.index)} ${query.slice(match.index + match[0].length)}`.trim().replaceAll(/\s+/g, " ")
}
