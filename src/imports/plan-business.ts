import { TemplateType } from "#src/format/ReadyConfig.ts"
import { httpsUrlProblem } from "#src/shared/https-url.ts"
import { Either, Predicate, Schema } from "effect"
import { cleanLine, cleanProse, excerpt, longest, tooLong } from "./cleaning.ts"
import { type Draft } from "./Draft.ts"
import { limits } from "./Import.ts"
import { type Fields, own, type Unmapped } from "./json-fields.ts"
import { type Fault, fault, type PlannedBusiness } from "./plan.ts"

const knownFields = ["name", "description", "vertical", "website", "phone", "location", "custom_fields"]
const places = ["city", "state", "zip"] as const

const isTemplateType = Schema.is(TemplateType)

/** A required field. */
const required = (value: unknown, path: string, most: number, clean: typeof cleanLine) => {
  if (value === undefined || value === null) return fault(path, "is missing")
  if (typeof value !== "string") return fault(path, "must be a string")
  const { text } = clean(value)
  if (text === "") return fault(path, "must not be empty")
  return tooLong(text, most) ? fault(path, `must be at most ${most} characters`) : Either.right(text)
}

const websiteOf = (draft: Draft, value: unknown) => {
  const url = draft.line(value, "business.website", longest.url)
  const problem = url === undefined ? undefined : httpsUrlProblem(url)
  if (problem === undefined) return url
  draft.warn("field_skipped", "business.website", `"${excerpt(url ?? "")}" ${problem}; skipped`)
  return undefined
}

const locationOf = (draft: Draft, unmapped: Unmapped, value: unknown) => {
  if (value === undefined || value === null) return {}
  if (!Predicate.isRecord(value)) {
    draft.warn("field_skipped", "business.location", "is not an object; skipped")
    return {}
  }
  unmapped.add(value, places, "business.location.")
  return Object.fromEntries(places.flatMap((place) => {
    const most = place === "zip" ? longest.short : longest.name
    const text = draft.line(own(value, place), `business.location.${place}`, most)
    if (text === undefined) return []
    draft.map(`business.location.${place}`, `business.${place}`, text)
    return [[place, text]]
  }))
}

/** Accepts text, numbers and booleans; converts them to text, because custom fields are text. */
const customValue = (draft: Draft, value: unknown, where: string) =>
  draft.prose(typeof value === "number" || typeof value === "boolean" ? String(value) : value, where)

const customFieldsOf = (draft: Draft, value: unknown) => {
  if (value === undefined || value === null) return undefined
  if (!Predicate.isRecord(value)) {
    draft.warn("field_skipped", "business.custom_fields", "is not an object; skipped")
    return undefined
  }
  const entries = Object.entries(value)
  if (entries.length > limits.customFields) {
    const message = `has more than ${limits.customFields} fields; those after were dropped`
    draft.warn("limit_truncated", "business.custom_fields", message)
  }
  return Object.fromEntries(
    entries.slice(0, limits.customFields).flatMap(([key, value]) => {
      const { text: name } = cleanLine(key)
      const where = `business.custom_fields.${name.slice(0, 100)}`
      if (name === "" || name === "__proto__" || tooLong(name, longest.name)) {
        draft.warn("field_skipped", where, "has a name that can't be used; skipped")
        return []
      }
      const text = customValue(draft, value, where)
      return text === undefined ? [] : [[name, text]]
    })
  )
}

/** The template type that a vertical names, if it does: `Home services` does. */
const templateOf = (vertical: string | undefined) => {
  const word = vertical?.toLowerCase().replace(/[\s-]+/g, "_")
  return isTemplateType(word) ? { templateType: word } : {}
}

const optionalColumn = <K extends string, V>(name: K, value: V | undefined) =>
  (value === undefined ? {} : { [name]: value }) as Partial<Record<K, V>>

/** The columns that the file's business sets in the target business. */
export const planBusiness = (
  fields: Fields,
  draft: Draft,
  unmapped: Unmapped
): Either.Either<PlannedBusiness, Fault> => {
  const names = Either.all({
    name: required(own(fields, "name"), "business.name", longest.name, cleanLine),
    description: required(own(fields, "description"), "business.description", longest.prose, cleanProse)
  })
  if (Either.isLeft(names)) return Either.left(names.left)
  unmapped.add(fields, knownFields, "business.")
  const vertical = draft.line(own(fields, "vertical"), "business.vertical")
  const website = websiteOf(draft, own(fields, "website"))
  const phone = draft.line(own(fields, "phone"), "business.phone", longest.short)
  draft.map("business.name", "business.name", names.right.name)
  draft.map("business.description", "business.description", names.right.description)
  if (vertical !== undefined) draft.map("business.vertical", "business.industry", vertical)
  if (website !== undefined) draft.map("business.website", "business.website", website)
  if (phone !== undefined) draft.map("business.phone", "business.phone", phone)
  const location = locationOf(draft, unmapped, own(fields, "location"))
  const customFields = customFieldsOf(draft, own(fields, "custom_fields"))
  if (customFields !== undefined) draft.map("business.custom_fields", "business.customFields")
  return Either.right({
    ...names.right,
    ...optionalColumn("industry", vertical),
    ...templateOf(vertical),
    ...optionalColumn("website", website),
    ...optionalColumn("phone", phone),
    ...location,
    ...optionalColumn("customFields", customFields)
  })
}
