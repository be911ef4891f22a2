import calculator from "ae-cvss-calculator"
import { severities, type Severity } from "../Finding.ts"
import { type Advisory } from "./schemas.ts"

/** The qualitative scale of CVSS 3.1 §5 and CVSS 4.0 §6; that of version 2 ends at high. */
const rated = (score: number, worst: Severity): Severity => {
  if (score >= 9) return worst
  if (score >= 7) return "high"
  if (score >= 4) return "medium"
  return score > 0 ? "low" : "unknown"
}

/** Undefined for what is no whole vector: the library scores an incomplete one as 0. */
const scoreOf = (vector: string): number | undefined => {
  if (vector.length > 400) return undefined
  try {
    const score: unknown = Reflect.get(Object(calculator.fromVector(vector)?.calculateScores(false)), "base")
    return typeof score === "number" && score >= 0 && score <= 10 ? score : undefined
  } catch {
    return undefined
  }
}

const ofVector = ({ score, type }: { readonly type: string; readonly score: string }): Severity => {
  const base = /^CVSS_V[234]$/.test(type) ? scoreOf(score) : undefined
  return base === undefined ? "unknown" : rated(base, type === "CVSS_V2" ? "high" : "critical")
}

/** Words of databases: GitHub's, Debian's urgency, Ubuntu's priority. */
const words: Readonly<Record<string, Severity>> = {
  critical: "critical",
  high: "high",
  important: "high",
  moderate: "medium",
  medium: "medium",
  low: "low",
  unimportant: "low",
  negligible: "low"
}

const ofWord = (word: unknown): Severity =>
  typeof word === "string" ? words[word.toLowerCase()] ?? "unknown" : "unknown"

const worstOf = (all: ReadonlyArray<Severity>): Severity =>
  severities.find((severity) => all.includes(severity)) ?? "unknown"

/**
 * How severe an advisory is: the worst of its vectors of CVSS 4 and 3, else of CVSS 2, else what its database says in a
 * word.
 */
export const severityOf = (advisory: Advisory): Severity => {
  const vectors = [...advisory.severity ?? [], ...(advisory.affected ?? []).flatMap(({ severity }) => severity ?? [])]
  const [old, modern] = [true, false].map((isOld) =>
    worstOf(vectors.filter(({ type }) => (type === "CVSS_V2") === isOld).map(ofVector))
  )
  const said = [
    advisory.database_specific,
    ...(advisory.affected ?? []).flatMap((affected) => [
      affected.database_specific,
      affected.ecosystem_specific
    ])
  ]
  const word = worstOf(said.flatMap((fields) => [ofWord(fields?.["severity"]), ofWord(fields?.["urgency"])]))
  return [modern, old, word].find((severity) => severity !== undefined && severity !== "unknown") ?? "unknown"
}
