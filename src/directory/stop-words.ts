/**
 * Words that people add to what they look for. They count only in a search that has nothing else; among listings that
 * match equally well, those whose names have them come first.
 */
export const stopWords: ReadonlySet<string> = new Set(
  ("a an and at around best by closest for from i in is me my near nearby nearest now of on open or our the to top with " +
    "your").split(" ")
)
