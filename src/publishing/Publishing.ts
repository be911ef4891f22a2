import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { Businesses } from "#src/businesses/Businesses.ts"
import { Deployments } from "#src/deployments/Deployments.ts"
import { stepOf } from "#src/deployments/transitions.ts"
import { Imports } from "#src/imports/Imports.ts"
import { Listings } from "#src/listings/Listings.ts"
import { Projects } from "#src/projects/Projects.ts"
import { ReadyImage } from "#src/ready-image/ReadyImage.ts"
import { CreateServer } from "#src/servers/Server.ts"
import { Servers } from "#src/servers/Servers.ts"
import { Disk } from "#src/shared/Disk.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { type Report } from "#src/shared/progress.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Fiber, Schema, Struct } from "effect"
import { refusalOf, RolledBack } from "./dry-run.ts"
import { type DryRun, type Publication, PublicationCutOff, type Publish } from "./Publication.ts"
import { type OwnedPublication, PublicationsRepo, type Unfinished } from "./PublicationsRepo.ts"

const NamedFile = Schema.parseJson(Schema.Struct({ business: Schema.Struct({ name: Schema.NonEmptyTrimmedString }) }))
const serverOf = Schema.decodeSync(CreateServer)
/** Steps before those of the deployment, and the total with the one after it. */
const before = 2
const total = before + stepOf("pending").total + 1

/** Impossible errors: a publication works only on rows that it created in the same transaction. */
const impossible = {
  BadRequest: Effect.die,
  BusinessNotFound: Effect.die,
  CatalogFull: Effect.die,
  PreviewExpired: Effect.die,
  PreviewNotFound: Effect.die,
  ServerAlreadyLinked: Effect.die,
  SlugTaken: Effect.die,
  TooManyPreviews: Effect.die
}

const concurrentChanges = (businessId: string, serverId: string) => {
  const cutOff = () => new PublicationCutOff({ businessId, serverId })
  return { DeploymentNotFound: cutOff, ListingNotFound: cutOff, ServerNotFound: cutOff }
}

/** Acts as the account that owns the publication now: it needs no further permission to be resumed. */
const asOwner = ({ accountId, email, plan }: OwnedPublication) =>
  Effect.provideService(CurrentActor, {
    accountId,
    email,
    plan,
    credential: { kind: "session", id: "publication", expiresAt: new Date(8.64e15) }
  })

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

/** Publishes a file in one call: a business, a running server, and a listing that agents find. */
export class Publishing extends Effect.Service<Publishing>()("publishing/Publishing", {
  effect: Effect.gen(function*() {
    const businesses = yield* Businesses
    const deployments = yield* Deployments
    const disk = yield* Disk
    const imports = yield* Imports
    const listings = yield* Listings
    const projects = yield* Projects
    const servers = yield* Servers
    const readyImage = yield* ReadyImage
    const repo = yield* PublicationsRepo
    const sql = yield* SqlClient.SqlClient

    const projectFor = Effect.fn("Publishing.projectFor")(function*(id: string | undefined) {
      if (id !== undefined) return yield* projects.visible(id)
      const { data: [newest] } = yield* projects.list({ limit: 1 })
      return newest ?? (yield* projects.create({ name: "My project" }))
    })

    /** Creates all or nothing: a file that can't be imported, or a plan at its limit, leaves no trace. */
    const make = Effect.fn("Publishing.make")(
      function*(input: Publish, imageUri: string) {
        const project = yield* projectFor(input.projectId)
        const name = yield* nameOf(input)
        const { id } = yield* businesses.create({
          projectId: project.id,
          name,
          templateType: input.templateType ?? "custom"
        })
        const { content, filename, mappings = {} } = input
        const preview = yield* imports.preview(id, { filename, bytes: new TextEncoder().encode(content), mappings })
        const refusal = refusalOf(preview)
        if (refusal !== undefined && input.dryRun !== true) return yield* refusal
        const { created_items: importedItems } = yield* imports.confirm(id, preview.preview_id)
        const server = yield* servers.create(project.id, serverOf({ name: name.slice(0, 255) }))
        const business = yield* businesses.update(id, { ...input.profile, serverId: server.id })
        const { listingId } = business
        const unfinished: Unfinished = {
          listingId,
          businessId: id,
          serverId: server.id,
          imageUri,
          visible: input.visible
        }
        yield* repo.insert(unfinished)
        return { business, importedItems, preview, refusal, server, unfinished }
      },
      (effect) => Effect.catchTags(effect, impossible),
      transactionally(sql)
    )

    /** The server's first deployment, started unless there is one: concurrent runs follow the same deployment. */
    const ensureDeployment = Effect.fn("Publishing.deployed")(function*({ imageUri, serverId }: Unfinished) {
      const first = repo.firstDeployment(serverId)
      const begin = Effect.map(deployments.deploy(serverId, { imageUri }), ({ id }) => id)
      return yield* Effect.flatten(first).pipe(
        Effect.catchTag("NoSuchElementException", () => begin),
        Effect.catchTag("DeploymentInProgress", () => Effect.flatMap(first, Effect.orDie))
      )
    })

    /** Ends the publication, once: a listing that somebody showed or hid meanwhile stays as it is. */
    const conclude = Effect.fn("Publishing.conclude")(function*(
      { businessId, listingId }: Unfinished,
      runs: boolean
    ) {
      const visible = yield* repo.end(listingId)
      return visible === null
        ? yield* listings.ofBusiness(businessId)
        : yield* listings.setVisible(listingId, { visible: visible && runs })
    }, transactionally(sql))

    /** Publications that run in this process, which `resume` must skip. */
    const inProgress = new Set<string>()

    const run = Effect.fn("Publishing.run")(
      function*(unfinished: Unfinished, report: Report) {
        const deployment = yield* deployments.follow(
          yield* ensureDeployment(unfinished),
          ({ message, step }) => report({ message, step: before + step, total })
        )
        const message = unfinished.visible === true ? "Showing the listing" : "Leaving the listing hidden"
        yield* report({ step: total, total, message })
        return { deployment, listing: yield* conclude(unfinished, deployment.status === "running") }
      },
      (effect, { businessId, listingId, serverId }) =>
        Effect.acquireUseRelease(
          Effect.sync(() => inProgress.add(listingId)),
          () =>
            Effect.catchTags(effect, concurrentChanges(businessId, serverId)).pipe(
              Effect.tapErrorTag("PublicationCutOff", () => repo.drop(listingId))
            ),
          () => Effect.sync(() => inProgress.delete(listingId))
        )
    )

    /**
     * Imports the file into a new business, creates its server, deploys the ready image there, and shows the listing
     * once it runs. A failed deployment is reported in `deployment`, and the listing stays hidden. The publication goes
     * on when the caller disconnects.
     */
    const publish = Effect.fn("Publishing.publish")(function*(input: Publish, report: Report) {
      yield* disk.check
      yield* report({ step: 0, total, message: "Finding the ready server's image" })
      const imageUri = yield* readyImage.reference
      yield* report({ step: 1, total, message: `Importing ${input.filename}` })
      const { business, importedItems, preview, server, unfinished } = yield* make(input, imageUri)
      yield* report({ step: before, total, message: `Made ${business.name} with ${importedItems} items` })
      const rest = yield* Fiber.join(yield* Effect.forkDaemon(run(unfinished, report)))
      return {
        ...rest,
        businessId: business.id,
        business,
        serverId: server.id,
        mcpUrl: `${server.publicUrl}/mcp`,
        importId: preview.preview_id,
        importedItems,
        ...Struct.pick(preview, "warnings", "unmapped_columns", "suggested_mappings", "source_program")
      } satisfies Publication
    }, withPolicy(sessionOnly))

    /** Does all of it up to the deployment, and rolls it back: so it finds whatever publishing would. */
    const dryRun = Effect.fn("Publishing.dryRun")(function*(input: Publish) {
      const { preview, refusal } = yield* make(input, "").pipe(
        Effect.flatMap((made) => new RolledBack(made)),
        transactionally(sql),
        Effect.catchTag("RolledBack", Effect.succeed)
      )
      const shown = Struct.omit(preview, "expires_at", "preview_id")
      return { dryRun: true, refusal: refusal?.message ?? null, ...shown } satisfies DryRun
    }, withPolicy(sessionOnly))

    /** `publish`, or with `dryRun` what it would do. */
    const request = (input: Publish, report: Report): Effect.Effect<
      Publication | DryRun,
      Effect.Effect.Error<ReturnType<typeof publish | typeof dryRun>>,
      CurrentActor
    > => input.dryRun === true ? dryRun(input) : publish(input, report)

    const finish = (publication: OwnedPublication) =>
      Effect.zipRight(
        Effect.logInfo(`Carrying on with the publication of ${publication.name}`),
        run(publication, () => Effect.void)
      ).pipe(
        asOwner(publication),
        Effect.catchTag(
          "PublicationCutOff",
          ({ message }) => Effect.logWarning(`The publication of ${publication.name} is given up. ${message}`)
        ),
        Effect.catchAllCause((cause) =>
          Effect.logWarning(`The publication of ${publication.name} could not be carried on; trying again`, cause)
        )
      )

    /**
     * Resumes publications that were interrupted when this program, or another on the same database, ended. When it
     * returns, all of them are being deployed; the rest runs in the background of the scope.
     */
    const resume = Effect.gen(function*() {
      yield* repo.dropOld
      const unfinished = (yield* repo.unfinished).filter(({ listingId }) => !inProgress.has(listingId))
      // A failure here happens again in the background, where it is logged.
      yield* Effect.forEach(unfinished, (one) => Effect.exit(asOwner(one)(ensureDeployment(one))), { discard: true })
      yield* Effect.forkScoped(Effect.forEach(unfinished, finish, { concurrency: "unbounded", discard: true }))
    }).pipe(Effect.withSpan("Publishing.carryOn"))

    return { publish, request, resume } as const
  })
}) {}
