import { allHours } from "#src/format/opening-hours.ts"
import type { ReadyConfig } from "#src/format/ReadyConfig.ts"

export interface FaqEntry {
  readonly question: string
  readonly answer: string
}

const joinNonBlank = (parts: ReadonlyArray<string>, by: string) => parts.filter((part) => part.trim() !== "").join(by)

const hoursText = ({ hours }: ReadyConfig): string => {
  const { dates, week } = allHours(hours)
  const line = (name: string, day: (typeof week)[number] | (typeof dates)[number]) =>
    day.status === "not stated"
      ? []
      : [day.status === "closed" ? `${name} closed` : `${name} ${day.open}–${day.close}`]
  return [...week.flatMap((day) => line(day.day, day)), ...dates.flatMap((day) => line(day.date, day))].join("; ")
}

/** The configuration as questions with answers; questions without an answer are left out. */
export const faqOf = (config: ReadyConfig): ReadonlyArray<FaqEntry> => {
  const { business, contact } = config
  const { address } = contact
  const standard: ReadonlyArray<readonly [question: string, answer: string]> = [
    [`What is ${business.name}?`, joinNonBlank([business.category, business.description], ". ")],
    [
      "Where is it?",
      joinNonBlank(
        [address.line1, address.city, joinNonBlank([address.state, address.zip], " "), address.country],
        ", "
      )
    ],
    ["When is it open?", hoursText(config)],
    ["How can it be reached?", joinNonBlank([contact.phone, contact.email, contact.website], ", ")]
  ]
  return [...Object.entries(business.customFields ?? {}), ...standard]
    .filter(([question, answer]) => question.trim() !== "" && answer.trim() !== "")
    .map(([question, answer]) => ({ question, answer }))
}

const wordsOf = (text: string) =>
  text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 2)

/** Entries that contain one of the words, or a word with the same beginning; all when `about` has no words. */
export const filterFaq = (entries: ReadonlyArray<FaqEntry>, about = ""): ReadonlyArray<FaqEntry> => {
  const queryWords = wordsOf(about)
  if (queryWords.length === 0) return entries
  return entries.filter(({ answer, question }) => {
    const words = wordsOf(`${question} ${answer}`)
    return queryWords.some((word) =>
      words.some((own) => own.startsWith(word) || (own.length > 3 && word.startsWith(own)))
    )
  })
}
