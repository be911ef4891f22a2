import { type BusinessRow } from "#src/businesses/Business.ts"
import { Businesses } from "#src/businesses/Businesses.ts"
import { ImportId, Preview } from "#src/imports/Import.ts"
import { Imports } from "#src/imports/Imports.ts"
import { PriceCandidates } from "#src/imports/Mappings.ts"
import { Projects } from "#src/projects/Projects.ts"
import { CreateServer } from "#src/servers/Server.ts"
import { Servers } from "#src/servers/Servers.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { IdempotentRun } from "#src/shared/Idempotency.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option, Schema, Struct } from "effect"
import { refusalOf } from "./dry-run.ts"
import { PublicationCutOff, type Publish } from "./Publication.ts"
import { PublicationsRepo, Unfinished } from "./PublicationsRepo.ts"

/** What is committed before the deployment, to go on from. */
export const Prepared = Schema.parseJson(Schema.Struct({
  unfinished: Unfinished,
  /** The deployment that runs already. */
  active: Schema.NullOr(Schema.String),
  importId: ImportId,
  importedItems: Schema.Int,
  told: Schema.Struct({
    ...Preview.pick("warnings", "unmapped_columns", "suggested_mappings", "source_program").fields,
    // What an earlier version committed has none.
    price_candidates: Schema.optionalWith(PriceCandidates, { default: () => [] })
  })
}))
export type Prepared = typeof Prepared.Type
const encodePrepared = Schema.encodeSync(Prepared)

const NamedFile = Schema.parseJson(Schema.Struct({ business: Schema.Struct({ name: Schema.NonEmptyTrimmedString }) }))
const serverOf = Schema.decodeSync(CreateServer)

/** Impossible errors: the rows they are about were made in the same transaction. */
const impossible = {
  BadRequest: Effect.die,
  PreviewExpired: Effect.die,
  PreviewNotFound: Effect.die,
  ServerAlreadyLinked: Effect.die,
  SlugTaken: Effect.die
}

/** The `name` argument, or the name in a JSON file. The import reports errors in such a file better than we could. */
const nameOf = ({ content, filename, name }: Publish) => {
  if (name !== undefined) return Effect.succeed(name)
  return /\.csv$/i.test(filename)
    ? Invalid.field("name", "is required with a CSV file, which has no name of the business")
    : Schema.decode(NamedFile)(content).pipe(
      Effect.map(({ business }) => business.name),
      Effect.orElseSucceed(() => "Business")
    )
}

const ofNewBusiness = ["name", "templateType", "projectId"] as const

/** Arguments that make no sense together. */
const checkArguments = (input: Publish) => {
  if (input.businessId === undefined) {
    return input.mode === undefined
      ? Effect.void
      : Invalid.field("mode", "is for an existing business: give businessId")
  }
  const issues = ofNewBusiness.filter((field) => input[field] !== undefined).map((path) => ({
    path,
    message: "is for a new business: leave it out beside businessId"
  }))
  return issues.length === 0 ? Effect.void : Effect.fail(new Invalid({ issues }))
}

/** What a publication does before its deployment: business, import and server, all or nothing. */
export const makePrepare = Effect.gen(function*() {
  const businesses = yield* Businesses
  const imports = yield* Imports
  const projects = yield* Projects
  const servers = yield* Servers
  const repo = yield* PublicationsRepo
  const sql = yield* SqlClient.SqlClient

  const projectFor = Effect.fn("Publishing.projectFor")(function*(id: string | undefined) {
    if (id !== undefined) return yield* projects.visible(id)
    const { data: [newest] } = yield* projects.list({ limit: 1 })
    return newest ?? (yield* projects.create({ name: "My project" }))
  })

  const newBusiness = Effect.fn("Publishing.newBusiness")(function*(input: Publish) {
    const project = yield* projectFor(input.projectId)
    const name = yield* nameOf(input)
    const { id } = yield* businesses.create({
      projectId: project.id,
      name,
      templateType: input.templateType ?? "custom"
    })
    return yield* businesses.visible(id)
  })

  const importInto = Effect.fn("Publishing.importInto")(function*(row: BusinessRow, input: Publish) {
    const { businessId, content, dryRun = false, filename, mappings = {} } = input
    const mode = businessId === undefined ? "add" : input.mode ?? "replace"
    const upload = { filename, bytes: new TextEncoder().encode(content), mappings }
    const { loss, preview } = yield* imports.examine(row.id, Effect.succeed(upload), mode)
    const refusal = refusalOf(preview, loss)
    if (refusal !== undefined && !dryRun) return yield* refusal
    const { created_items: importedItems } = yield* imports.confirm(row.id, preview.preview_id, mode)
    return { importedItems, preview, refusal }
  })

  /** Its server may be deleted at any time. */
  const linked = (businessId: string, serverId: string) =>
    Effect.mapError(
      servers.get(serverId),
      (error) => error._tag === "ServerNotFound" ? new PublicationCutOff({ businessId, serverId }) : error
    )

  /** The business's server, made and linked when it has none; and the profile that was given. */
  const link = Effect.fn("Publishing.link")(function*(row: BusinessRow, { profile }: Publish) {
    const server = row.serverId === null
      ? yield* servers.create(row.projectId, serverOf({ name: row.name.slice(0, 255) }))
      : yield* linked(row.id, row.serverId)
    const changes = { ...profile, ...(row.serverId === null ? { serverId: server.id } : {}) }
    const business = Object.keys(changes).length === 0
      ? yield* businesses.get(row.id)
      : yield* businesses.update(row.id, changes)
    return { business, server }
  })

  /** Leaves no trace when it fails: of a file that can't be imported, or of a plan at its limit. */
  return Effect.fn("Publishing.prepare")(
    function*(input: Publish, imageUri: string) {
      yield* checkArguments(input)
      const row = yield* input.businessId === undefined ? newBusiness(input) : businesses.visible(input.businessId)
      const imported = yield* importInto(row, input)
      // Read again: the import holds its lock, and another publication may have linked a server meanwhile.
      const { business, server } = yield* link(yield* businesses.visible(row.id), input)
      const active = Option.getOrUndefined(yield* repo.activeDeployment(server.id))
      const unfinished: Unfinished = {
        listingId: business.listingId,
        businessId: row.id,
        serverId: server.id,
        imageUri,
        afterVersion: yield* repo.lastSettled(server.id),
        visible: input.visible ?? true
      }
      // A server that runs follows the catalog by itself.
      if (active === undefined) yield* repo.insert(unfinished)
      const { importedItems, preview, refusal } = imported
      const prepared: Prepared = {
        unfinished,
        active: active ?? null,
        importId: preview.preview_id,
        importedItems,
        told: Struct.pick(
          preview,
          "warnings",
          "unmapped_columns",
          "suggested_mappings",
          "price_candidates",
          "source_program"
        )
      }
      yield* (yield* IdempotentRun).checkpoint(encodePrepared(prepared))
      return { prepared, business, server, preview, refusal }
    },
    (effect) => Effect.catchTags(effect, impossible),
    transactionally(sql)
  )
})
