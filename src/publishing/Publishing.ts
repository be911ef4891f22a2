import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { Businesses } from "#src/businesses/Businesses.ts"
import { Deployments } from "#src/deployments/Deployments.ts"
import { stepOf } from "#src/deployments/transitions.ts"
import { Listings } from "#src/listings/Listings.ts"
import { ReadyImage } from "#src/ready-image/ReadyImage.ts"
import { Servers } from "#src/servers/Servers.ts"
import { Disk } from "#src/shared/Disk.ts"
import { asStep, IdempotentRun } from "#src/shared/Idempotency.ts"
import { outageIn } from "#src/shared/outage.ts"
import { type Report } from "#src/shared/progress.ts"
import { transactionally } from "#src/shared/sql.ts"
import { ComputeTime } from "#src/usage/ComputeTime.ts"
import { SqlClient } from "@effect/sql"
import { type Cause, Effect, Fiber, Option, Schema, Struct } from "effect"
import { RolledBack } from "./dry-run.ts"
import { makePrepare, Prepared } from "./prepare.ts"
import { type DryRun, type Publication, PublicationCutOff, PublicationGoesOn, type Publish } from "./Publication.ts"
import { type OwnedPublication, PublicationsRepo, type Unfinished } from "./PublicationsRepo.ts"

/** Steps before those of the deployment, and the total with the one after it. */
const before = 2
const total = before + stepOf("pending").total + 1

const decodePrepared = Schema.decode(Prepared)

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

/** Publishes a file in one call: a business, a running server, and a listing that agents find. */
export class Publishing extends Effect.Service<Publishing>()("publishing/Publishing", {
  effect: Effect.gen(function*() {
    const businesses = yield* Businesses
    const deployments = yield* Deployments
    const disk = yield* Disk
    const listings = yield* Listings
    const compute = yield* ComputeTime
    const readyImage = yield* ReadyImage
    const repo = yield* PublicationsRepo
    const servers = yield* Servers
    const sql = yield* SqlClient.SqlClient
    const prepare = yield* makePrepare

    /** The publication's own deployment, started unless there is one: concurrent runs follow the same deployment. */
    const ensureDeployment = Effect.fn("Publishing.deployed")(
      function*({ afterVersion, imageUri, serverId }: Unfinished) {
        const first = repo.deploymentAfter(serverId, afterVersion)
        const begin = Effect.map(asStep(deployments.deploy(serverId, { imageUri })), ({ id }) => id)
        return yield* Effect.flatten(first).pipe(
          Effect.catchTag("NoSuchElementException", () => begin),
          Effect.catchTag("DeploymentInProgress", () => Effect.flatMap(first, Effect.orDie))
        )
      }
    )

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

    /** The end of a publication whose server runs already: its listing stays as it is unless the caller says. */
    const leaveRunning = Effect.fn("Publishing.leaveRunning")(
      function*({ businessId, listingId, serverId }: Unfinished, active: string, visible: boolean | undefined) {
        const deployment = yield* deployments.get(serverId, active)
        const listing = visible === undefined
          ? yield* listings.ofBusiness(businessId)
          : yield* listings.setVisible(listingId, { visible })
        return { deployment, listing }
      },
      (effect, { businessId, serverId }) =>
        Effect.catchTags(effect, Struct.omit(concurrentChanges(businessId, serverId), "ServerNotFound"))
    )

    const begin = Effect.fn("Publishing.begin")(function*(input: Publish, report: Report) {
      yield* disk.check
      yield* compute.check
      yield* report({ step: 0, total, message: "Finding the ready server's image" })
      const imageUri = yield* readyImage.reference
      yield* report({ step: 1, total, message: `Importing ${input.filename}` })
      return yield* prepare(input, imageUri)
    })

    /** What the first request of an Idempotency-Key had committed before the program ended. */
    const recover = Effect.fn("Publishing.recover")(function*(text: string) {
      const prepared = yield* Effect.orDie(decodePrepared(text))
      const { businessId, serverId } = prepared.unfinished
      const cutOff = () => new PublicationCutOff({ businessId, serverId })
      const business = yield* Effect.catchTag(businesses.get(businessId), "BusinessNotFound", cutOff)
      return { prepared, business, server: yield* Effect.catchTag(servers.get(serverId), "ServerNotFound", cutOff) }
    })

    /** Without the database the publication waits for it, but the caller need not. */
    const goesOn =
      ({ businessId, serverId }: Unfinished, importId: string) =>
      <E>(cause: Cause.Cause<E>): Effect.Effect<never, E | PublicationGoesOn> =>
        outageIn(cause) === undefined
          ? Effect.failCause(cause)
          : new PublicationGoesOn({ businessId, serverId, importId, retryAfter: 5 })

    /**
     * Imports the file into a new business, creates its server, deploys the ready image there, and shows the listing
     * once it runs. A failed deployment is reported in `deployment`, and the listing stays hidden. The publication goes
     * on when the caller disconnects. Of an existing business it replaces the catalog, or adds to it, and deploys only
     * when nothing runs.
     */
    const publish = Effect.fn("Publishing.publish")(function*(input: Publish, report: Report) {
      const { recovered } = yield* IdempotentRun
      const { business, prepared, server } = yield* Option.match(recovered, {
        onNone: () => begin(input, report),
        onSome: recover
      })
      const { active, importId, importedItems, told, unfinished } = prepared
      const done = input.businessId === undefined ? "Made" : "Updated"
      const items = `${importedItems} ${importedItems === 1 ? "item" : "items"}`
      yield* report({ step: before, total, message: `${done} ${business.name} with ${items}` })
      const rest = active === null
        ? Effect.flatMap(Effect.forkDaemon(run(unfinished, report)), Fiber.join)
        : leaveRunning(unfinished, active, input.visible)
      // Read again, because the deployment has given it a health score.
      const read = Effect.catchTag(businesses.get(business.id), "BusinessNotFound", () => Effect.succeed(business))
      const ended = Effect.flatMap(rest, (end) => Effect.map(read, (after) => ({ ...end, business: after })))
      return {
        ...(yield* Effect.catchAllCause(ended, goesOn(unfinished, importId))),
        businessId: business.id,
        serverId: server.id,
        mcpUrl: `${server.publicUrl}/mcp`,
        importId,
        importedItems,
        ...told
      } satisfies Publication
    }, withPolicy(sessionOnly))

    /** Does all of it up to the deployment, and rolls it back: so it finds whatever publishing would. */
    const dryRun = Effect.fn("Publishing.dryRun")(function*(input: Publish) {
      const { preview, refusal } = yield* prepare(input, "").pipe(
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
