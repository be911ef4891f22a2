/** What a dynamic query must answer, written down once more and another way: it shares no code with the program. */
import { createHash } from "node:crypto"

export interface Seed {
  readonly id: string
  readonly name: string
  readonly categories: ReadonlyArray<string>
  readonly tags: ReadonlyArray<string>
  readonly industry: string
  readonly city: string
  readonly state: string
  readonly lat: number
  readonly lng: number
  readonly active: boolean
  readonly tier: "basic" | "featured" | "premium"
  readonly trust: number
  readonly health: number
}

export type Question = Readonly<Record<string, string | number>>

const plain = (text: string) =>
  text.normalize("NFKD").replace(/[\u0300-\u036f.']/g, "").toLowerCase().split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "").map((word) => word === "saint" ? "st" : word).join(" ")
const states: Readonly<Record<string, string>> = { texas: "tx", california: "ca", missouri: "mo" }
const plainState = (state: string) => states[plain(state)] ?? plain(state)

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
/** The first 128 bits of SHA-256 as a ULID. */
export const idOf = (vertical: string, state: string, city: string) => {
  const hash = createHash("sha256").update(`${plain(vertical)}|${plainState(state)}|${plain(city)}`).digest("hex")
  let number = BigInt(`0x${hash.slice(0, 32)}`)
  let id = ""
  for (let i = 0; i < 26; i++) {
    id = alphabet.charAt(Number(number % 32n)) + id
    number /= 32n
  }
  return id
}

const radians = (degrees: number) => degrees * Math.PI / 180
const miles = (a: { lat: number; lng: number }, b: { lat: number; lng: number }) =>
  3958.7613 * Math.acos(Math.min(
    1,
    Math.sin(radians(a.lat)) * Math.sin(radians(b.lat)) +
      Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * Math.cos(radians(a.lng - b.lng))
  ))

const weights = { basic: 1, featured: 2, premium: 3 }
const mean = (numbers: ReadonlyArray<number>) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length

/** What every group that matches is, best first. */
export const answerOf = (all: ReadonlyArray<Seed>, question: Question) => {
  const is = <A>(name: string, test: (value: string) => A) =>
    question[name] === undefined || test(String(question[name]))
  const members = all.filter((one) =>
    one.active && one.health >= Number(question["health_score_min"] ?? 50) &&
    is("vertical", (text) => plain(one.industry) === plain(text)) &&
    is("city", (text) => plain(one.city) === plain(text)) &&
    is("state", (text) => plainState(one.state) === plainState(text)) &&
    is("category", (text) => one.categories.includes(text)) &&
    is("tags", (text) => text.split(",").every((tag) => one.tags.includes(tag))) &&
    is("listing_ids", (text) => text.split(",").includes(one.id)) &&
    is("listing_tier", (text) => one.tier === text) &&
    is("lat", () =>
      miles(one, { lat: Number(question["lat"]), lng: Number(question["lng"]) }) <= Number(question["radius_miles"]))
  ).filter(({ city, industry }) => city !== "" && plain(industry) !== "custom")
  const groups = new Map<string, Array<Seed>>()
  for (const one of members) {
    const id = idOf(one.industry, one.state, one.city)
    groups.set(id, [...groups.get(id) ?? [], one])
  }
  return [...groups].map(([id, members]) => {
    const trust = Math.min(...members.map((one) => one.trust))
    const health = mean(members.map((one) => one.health))
    return {
      id,
      memberCount: members.length,
      compositeTrust: trust,
      avgHealthScore: Math.round(health * 100) / 100,
      rank: trust * health * mean(members.map((one) => weights[one.tier])),
      best: members.map((one) => ({ id: one.id, score: one.trust * one.health * weights[one.tier] }))
        .sort((a, b) => b.score - a.score).slice(0, 10).map((one) => one.score)
    }
  })
    .filter((one) =>
      one.memberCount >= Number(question["min_members"] ?? 1) &&
      one.compositeTrust >= Number(question["verification_tier_min"] ?? 0)
    )
    .sort((a, b) => Math.abs(a.rank - b.rank) > 1e-9 ? b.rank - a.rank : a.id < b.id ? -1 : 1)
}
