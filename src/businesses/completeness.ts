import { type BusinessRow } from "./Business.ts"

const parts: ReadonlyArray<(row: Profile) => boolean> = [
  (row) => row.description !== "",
  (row) => row.phone !== "",
  (row) => row.email !== "",
  (row) => row.website !== "",
  (row) => row.line1 !== "",
  (row) => row.city !== "",
  (row) => row.state !== "",
  (row) => row.latitude !== null,
  (row) => Object.keys(row.hours).length > 0,
  (row) => row.catalogSyncedAt !== null
]

type Profile = Pick<
  BusinessRow,
  | "description"
  | "phone"
  | "email"
  | "website"
  | "line1"
  | "city"
  | "state"
  | "latitude"
  | "hours"
  | "catalogSyncedAt"
>

/**
 * How complete a business's profile is, 0 to 100: ten for each of description, phone, e-mail, website,
 * street, city, state, coordinates, hours, and a catalog.
 */
export const profileCompleteness = (row: Profile) => parts.filter((isFilled) => isFilled(row)).length * 10
