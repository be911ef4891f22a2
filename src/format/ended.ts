/** What closes a quotation or a bracket after the stop within it. */
const closing = "[\"'”’»」』)\\]]*"
const isEnded = new RegExp(`[.!?…。！？]${closing}$`, "u")

/** Somebody's text as a sentence that another can follow: what ends it already stays. */
export const ended = (text: string): string => {
  const words = text.trimEnd()
  return words === "" || isEnded.test(words) ? words : `${words.replace(/[\s,;:]+$/, "")}.`
}
