import { CatalogFull, mostItems } from "#src/businesses/Catalog.ts"
import { DeploymentEnded, DeploymentInProgress, NotDeployed } from "#src/deployments/Deployment.ts"
import { BadListingId } from "#src/hub/ListingSkills.ts"
import { FileTooLarge } from "#src/imports/Import.ts"
import { codeOf, describe, type Failure, Invalid } from "#src/shared/Failure.ts"
import { ChangesTokenExpired } from "#src/syndication/FeedEntry.ts"

/** What a parameter or a field is told that nobody knows. */
export const unknownParameter = Invalid.field("verbose", "is not a known field")

/** Of a status with the code that is its own. */
const usual: Readonly<Record<number, Pick<Failure, "message" | "details">>> = {
  400: { message: "The query must be UTF-8, percent-encoded" },
  401: { message: "The credential is not valid: unknown, expired or revoked" },
  403: { message: "This key lacks the scope servers:write", details: { requiredScopes: ["servers:write"] } },
  404: { message: "There is no such server" },
  408: { message: "The body did not arrive in time" },
  409: { message: "The slug menu is taken; choose another, or leave it out to get one made from the name" },
  422: Invalid.field("name", "must be a string"),
  429: { message: "More than 60 requests a minute; try again in 12 seconds" }
}

/** With other codes: as the program words them. */
const others: ReadonlyArray<Failure> = [
  new BadListingId({}),
  new CatalogFull({ what: "items", limit: mostItems }),
  new ChangesTokenExpired(),
  new DeploymentEnded({ status: "running" }),
  new DeploymentInProgress(),
  new FileTooLarge(),
  new NotDeployed()
].flatMap((error) => describe(error) ?? [])

export type Body = "json" | "file"
/** Of an operation that takes a body, which is read first. */
const bodies: Readonly<Record<Body, Pick<Failure, "message" | "details">>> = {
  json: { message: "The body is not valid JSON" },
  file: { message: "The body must be multipart/form-data with one file in its field \"file\"" }
}

/** `codes`: those that the operation has for the status, of which the example shows one. */
export const failureExample = (
  status: number,
  meaning: string,
  codes: ReadonlyArray<string>,
  body: Body | undefined
): Failure => {
  const own = codeOf(status)
  const [code = own] = codes.includes(own) ? [own] : codes
  const { details, message } = others.find((one) => one.status === status && one.code === code) ??
    (status === 400 && body !== undefined ? bodies[body] : usual[status]) ?? { message: meaning }
  return { status, code, message, ...(details === undefined ? {} : { details }) }
}
