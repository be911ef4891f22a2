import type { ReadyConfig } from "#src/format/ReadyConfig.ts"
import { allHours } from "./hours.ts"

export interface Answered {
  readonly question: string
  readonly answer: string
}

const joined = (parts: ReadonlyArray<string>, by: string) => parts.filter((part) => part.trim() !== "").join(by)

const hoursText = ({ hours }: ReadyConfig): string => {
  const { dates, week } = allHours(hours)
  const line = (name: string, day: (typeof week)[number] | (typeof dates)[number]) =>
    day.status === "not stated"
      ? []
      : [day.status === "closed" ? `${name} closed` : `${name} ${day.open}–${day.close}`]
  return [...week.flatMap((day) => line(day.day, day)), ...dates.flatMap((day) => line(day.date, day))].join("; ")
}

/** What the configuration states, as questions with answers; a question without one is not there. */
export const faqOf = (config: ReadyConfig): ReadonlyArray<Answered> => {
  const { business, contact } = config
  const { address } = contact
  const standard: ReadonlyArray<readonly [question: string, answer: string]> = [
    [`What is ${business.name}?`, joined([business.category, business.description], ". ")],
    [
      "Where is it?",
      joined([address.line1, address.city, joined([address.state, address.zip], " "), address.country], ", ")
    ],
    ["When is it open?", hoursText(config)],
    ["How can it be reached?", joined([contact.phone, contact.email, contact.website], ", ")]
  ]
  return [...Object.entries(business.customFields ?? {}), ...standard]
    .filter(([question, answer]) => question.trim() !== "" && answer.trim() !== "")
    .map(([question, answer]) => ({ question, answer }))
}

const wordsOf = (text: string) =>
  text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 2)

/** Those that have one of the words, or the beginning of one; all when there is none to look for. */
export const matching = (entries: ReadonlyArray<Answered>, about = ""): ReadonlyArray<Answered> => {
  const wanted = wordsOf(about)
  if (wanted.length === 0) return entries
  return entries.filter(({ answer, question }) => {
    const words = wordsOf(`${question} ${answer}`)
    return wanted.some((word) => words.some((own) => own.startsWith(word) || (own.length > 3 && word.startsWith(own))))
  })
}
