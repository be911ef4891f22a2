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
import { Effect, Fiber, Schema } from "effect"
import { type Publication, PublicationCutOff, type Publish } from "./Publication.ts"
import { type Left, PublicationsRepo, type Unfinished } from "./PublicationsRepo.ts"

type Publish = typeof Publish.Type

const Named = Schema.parseJson(Schema.Struct({ business: Schema.Struct({ name: Schema.NonEmptyTrimmedString }) }))
const serverOf = Schema.decodeSync(CreateServer)
/** Steps before the deployment's own, and all of them with the one after. */
const before = 2
const total = before + stepOf("pending").total + 1

/** What can't be: all that a publication works on is its own, and locked. */
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

const byOthers = (businessId: string, serverId: string) => {
  const cutOff = () => new PublicationCutOff({ businessId, serverId })
  return { DeploymentNotFound: cutOff, ListingNotFound: cutOff, ServerNotFound: cutOff }
}

/** Whoever could publish may have it carried on: as the account that owns it by now. */
const asOwner = ({ accountId, email, plan }: Left) =>
  Effect.provideService(CurrentActor, {
    accountId,
    email,
    plan,
    credential: { kind: "session", id: "publication", expiresAt: new Date(8.64e15) }
  })

/** A name that was given, or the one in a JSON file. What is wrong with such a file the import tells better. */
const nameOf = ({ content, filename, name }: Publish) => {
  if (name !== undefined) return Effect.succeed(name)
  return /\.csv$/i.test(filename)
    ? Invalid.field("name", "is required with a CSV file, which has no name of the business")
    : Schema.decode(Named)(content).pipe(
      Effect.map(({ business }) => business.name),
      Effect.orElseSucceed(() => "Business")
    )
}

/** From a file to a listing that agents find and a server that answers them, in one call. */
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

    /** All of it or nothing: a file that can't be imported, or a plan that is full, leaves no trace. */
    const make = Effect.fn("Publishing.make")(
      function*(input: Publish, imageUri: string) {
        const project = yield* projectFor(input.projectId)
        const name = yield* nameOf(input)
        const { id } = yield* businesses.create({
          projectId: project.id,
          name,
          templateType: input.templateType ?? "custom"
        })
        const upload = { filename: input.filename, bytes: new TextEncoder().encode(input.content) }
        const preview = yield* imports.preview(id, upload)
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
        return { business, importedItems, server, unfinished, warnings: preview.warnings }
      },
      (effect) => Effect.catchTags(effect, impossible),
      transactionally(sql)
    )

    /** The server's first deployment, begun unless there is one: two that carry on at once follow the same. */
    const deployed = Effect.fn("Publishing.deployed")(function*({ imageUri, serverId }: Unfinished) {
      const first = repo.firstDeployment(serverId)
      const begin = Effect.map(deployments.deploy(serverId, { imageUri }), ({ id }) => id)
      return yield* Effect.flatten(first).pipe(
        Effect.catchTag("NoSuchElementException", () => begin),
        Effect.catchTag("DeploymentInProgress", () => Effect.flatMap(first, Effect.orDie))
      )
    })

    /** The end, once: a listing that was shown or hidden by somebody meanwhile stays as they left it. */
    const conclude = Effect.fn("Publishing.conclude")(function*(
      { businessId, listingId }: Unfinished,
      runs: boolean
    ) {
      const visible = yield* repo.take(listingId)
      return visible === null
        ? yield* listings.ofBusiness(businessId)
        : yield* listings.setVisible(listingId, { visible: visible && runs })
    }, transactionally(sql))

    /** What this process works at: nothing that its own sweep should take up. */
    const atWork = new Set<string>()

    const run = Effect.fn("Publishing.run")(
      function*(unfinished: Unfinished, tell: Report) {
        const deployment = yield* deployments.follow(
          yield* deployed(unfinished),
          ({ message, step }) => tell({ message, step: before + step, total })
        )
        const message = unfinished.visible === true ? "Showing the listing" : "Leaving the listing hidden"
        yield* tell({ step: total, total, message })
        return { deployment, listing: yield* conclude(unfinished, deployment.status === "running") }
      },
      (effect, { businessId, listingId, serverId }) =>
        Effect.acquireUseRelease(
          Effect.sync(() => atWork.add(listingId)),
          () =>
            Effect.catchTags(effect, byOthers(businessId, serverId)).pipe(
              Effect.tapErrorTag("PublicationCutOff", () => repo.drop(listingId))
            ),
          () => Effect.sync(() => atWork.delete(listingId))
        )
    )

    /**
     * Imports the file into a new business, gives it a server, deploys the ready image there, and shows the listing
     * once it runs. A deployment that fails is told in `deployment`, and the listing stays hidden; whoever hangs up
     * stops nothing.
     */
    const publish = Effect.fn("Publishing.publish")(function*(input: Publish, tell: Report) {
      yield* disk.check
      yield* tell({ step: 0, total, message: "Finding the ready server's image" })
      const imageUri = yield* readyImage.reference
      yield* tell({ step: 1, total, message: `Importing ${input.filename}` })
      const { business, importedItems, server, unfinished, warnings } = yield* make(input, imageUri)
      yield* tell({ step: before, total, message: `Made ${business.name} with ${importedItems} items` })
      const rest = yield* Fiber.join(yield* Effect.forkDaemon(run(unfinished, tell)))
      return {
        ...rest,
        businessId: business.id,
        business,
        serverId: server.id,
        mcpUrl: `${server.publicUrl}/mcp`,
        importedItems,
        warnings
      } satisfies Publication
    }, withPolicy(sessionOnly))

    const finish = (left: Left) =>
      Effect.zipRight(
        Effect.logInfo(`Carrying on with the publication of ${left.name}`),
        run(left, () => Effect.void)
      ).pipe(
        asOwner(left),
        Effect.catchTag(
          "PublicationCutOff",
          ({ message }) => Effect.logWarning(`The publication of ${left.name} is given up. ${message}`)
        ),
        Effect.catchAllCause((cause) =>
          Effect.logWarning(`The publication of ${left.name} could not be carried on; trying again`, cause)
        )
      )

    /**
     * Carries on with what ended before its time: with this program, or another on the same database. When it returns
     * all of that is being deployed; the rest is done in the scope's background.
     */
    const carryOn = Effect.gen(function*() {
      yield* repo.dropOld
      const left = (yield* repo.left).filter(({ listingId }) => !atWork.has(listingId))
      // What fails here fails again, and is told, in the background.
      yield* Effect.forEach(left, (one) => Effect.exit(asOwner(one)(deployed(one))), { discard: true })
      yield* Effect.forkScoped(Effect.forEach(left, finish, { concurrency: "unbounded", discard: true }))
    }).pipe(Effect.withSpan("Publishing.carryOn"))

    return { publish, carryOn } as const
  })
}) {}
