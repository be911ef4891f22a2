/** Words that say nothing of what a tool is for. */
export const silent = new Set(
  ("a all am an and any anybody are as at be by can could did do does else for from good have hello help hi how i in is it its just " +
    "let me my not now of on one or our out own please so some somebody someone something tell that the their them there these thing " +
    "this through to tool up want we what which while with would you your need needs use using").split(" ")
)

export const wordsIn = (text: string): ReadonlyArray<string> => text.match(/[\p{L}\p{N}']+/gu) ?? []

/** Without its ending, so that `servers`, `deploying` and `deployed` are found as `server` and `deploy`. */
export const stem = (word: string) => {
  // A listing is a thing, and to list is what many tools do.
  if (/^listings?$/.test(word)) return "listing"
  const bare = word.replace(/'s$/, "").replace(/(?:ies|ing|ed|es|s)$/, (ending) => ending === "ies" ? "y" : "")
  const base = bare.length >= 3 ? bare : word
  return base.length > 4 ? base.replace(/e$/, "") : base
}

/** Words that say little of the matter: so many tools make, show or change something. */
export const vague = new Set("browse change check get give make manage put read see set show view".split(" ").map(stem))
/** What is to be done; the matter is in the other words. */
export const verbs = new Set([
  ...vague,
  ..."add cancel close create delete edit end list new remove reset send start stop update upload".split(" ").map(stem)
])
/** What many matters have: such a word tells no tool apart. */
export const ambiguous = new Set("account email password".split(" "))
/** Who says one of these means to lose something. */
export const ending = new Set(
  ("abort cancel clear close delete destroy discard disconnect downgrade drop end erase kill purge remove revert revoke " +
    "rid switch undo unset unshare unsubscribe").split(" ").map(stem)
)

export const wordOf = (term: string) => {
  const word = term.toLowerCase()
  return silent.has(word) ? null : stem(word)
}

/** Whether longer words are meant, too. */
export const mayBegin = (word: string) => word.length > 3 && !verbs.has(word)

export const stemsIn = (...texts: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(texts.flatMap(wordsIn).flatMap((term) => wordOf(term) ?? []))

/** An account's password, or a registry's? No tool is meant for sure. */
export const isUnclear = (asked: ReadonlyArray<string>) =>
  asked.includes("password") && asked.every((word) => verbs.has(word) || ambiguous.has(word))
