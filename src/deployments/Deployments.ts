import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, seesProject, withPolicy } from "#src/accounts/Policy.ts"
import { Scans, type VulnerabilitiesRequest } from "#src/scanning/Scans.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Servers } from "#src/servers/Servers.ts"
import { Disk } from "#src/shared/Disk.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { isId, newId } from "#src/shared/ids.ts"
import { type PageRequest, paginate } from "#src/shared/paging.ts"
import { type Report } from "#src/shared/progress.ts"
import { shares, Shutdown } from "#src/shared/Shutdown.ts"
import { UploadedImages } from "#src/uploads/UploadedImages.ts"
import { Effect, Option, Stream, Struct } from "effect"
import { awaitingEnd } from "./await-end.ts"
import { begunOnce, makeBeginForCaller } from "./begin.ts"
import {
  type DeployInput,
  type Deployment,
  DeploymentEnded,
  DeploymentId,
  DeploymentNotFound,
  type DeploymentRow,
  type ListedDeployment,
  listedView,
  type RollbackInput,
  VersionNotFound,
  view
} from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { HandshakesRepo } from "./HandshakesRepo.ts"
import { makeKeptDigest } from "./kept-digest.ts"
import { canceledBy } from "./next-step.ts"
import { OutcomesRepo } from "./OutcomesRepo.ts"
import { remindingEvery } from "./reminders.ts"
import { RoomWaits } from "./RoomWaits.ts"
import { refusal, stored } from "./run-options.ts"
import { isSettled, rules, stepOf } from "./transitions.ts"
import { waitingFor } from "./wait-for.ts"
import { Watch } from "./Watch.ts"

const reads = withPolicy(anyScope("deployments:read"))
const writes = withPolicy(anyScope("deployments:write"))
const either = withPolicy(anyScope("deployments:read", "deployments:write"))

export class Deployments extends Effect.Service<Deployments>()("deployments/Deployments", {
  effect: Effect.gen(function*() {
    const repo = yield* DeploymentsRepo
    const handshakes = yield* HandshakesRepo
    const outcomes = yield* OutcomesRepo
    const servers = yield* Servers
    const logs = yield* ServerLogs
    const disk = yield* Disk
    const scans = yield* Scans
    const watch = yield* Watch
    const { told } = yield* RoomWaits
    const uploads = yield* UploadedImages
    const { reaches } = yield* Shutdown
    const begin = yield* makeBeginForCaller
    const keptDigest = yield* makeKeptDigest

    /** A key deploys what was pushed to its own project alone. */
    const checkImage = Effect.fn("Deployments.checkImage")(function*(imageUri: string) {
      const actor = yield* CurrentActor
      const project = yield* uploads.projectOf(actor.accountId, imageUri)
      if (Option.isSome(project) && !seesProject(actor, project.value)) {
        return yield* Invalid.field("imageUri", "is of a project that this key does not see")
      }
    })

    const once = begunOnce((id: string) => asItIs(id))

    /** Starts a deployment and returns its `pending` record; `settled` waits for its end. */
    const deploy = Effect.fn("Deployments.deploy")(
      function*(serverId: string, { imageUri, ...input }: typeof DeployInput.Type) {
        const options = stored(input)
        yield* Option.match(refusal(imageUri, options), { onNone: () => Effect.void, onSome: Effect.fail })
        const server = yield* servers.visible(serverId)
        yield* checkImage(imageUri)
        yield* disk.check
        const row = yield* begin({
          id: DeploymentId.make(newId("dep")),
          serverId: server.id,
          type: "deploy",
          imageUri,
          imageDigest: null,
          rollbackOf: null,
          scanResult: null,
          scanId: null,
          package: null,
          ...options
        })
        return view(row, null)
      },
      once,
      writes
    )

    /** Deploys a version's stored image again, as a new version. */
    const rollback = Effect.fn("Deployments.rollback")(
      function*(serverId: string, { version }: typeof RollbackInput.Type) {
        const server = yield* servers.visible(serverId)
        const target = Option.getOrUndefined(yield* repo.findVersion(server.id, version))
        if (target === undefined) return yield* new VersionNotFound({ version })
        const row = yield* begin({
          id: DeploymentId.make(newId("dep")),
          serverId: server.id,
          type: "rollback",
          imageUri: target.imageUri,
          imageDigest: yield* keptDigest(server, target),
          rollbackOf: target.id,
          scanResult: target.scanResult,
          scanId: target.scanId,
          package: target.package,
          ...Struct.pick(target, "args", "command", "transport", "processes", "packageScripts", "node"),
          freshDependencies: false
        })
        return view(row, null)
      },
      once,
      writes
    )

    const visible = Effect.fn("Deployments.visible")(function*(id: string) {
      const row = isId("dep", id) ? yield* repo.find(id) : Option.none()
      if (Option.isNone(row)) return yield* new DeploymentNotFound()
      yield* Effect.mapError(servers.visible(row.value.serverId), () => new DeploymentNotFound())
      return yield* Effect.as(watch.ended(row.value), row.value)
    })

    /** With the tools of its server. */
    const whole = (row: DeploymentRow): Effect.Effect<Deployment> =>
      Effect.map(handshakes.find(row.id), (mcp) => view(told(row), Option.getOrNull(mcp)))

    /** Of the server, where one is named: an id alone is enough. */
    const visibleOf = Effect.fn("Deployments.visibleOf")(function*(serverId: string | undefined, id: string) {
      const row = yield* visible(id)
      return serverId === undefined || row.serverId === serverId ? row : yield* new DeploymentNotFound()
    })

    const get = Effect.fn("Deployments.get")(
      (serverId: string | undefined, id: string) => Effect.flatMap(visibleOf(serverId, id), whole),
      reads
    )

    /** The record at each change until it has settled. Fails when the server is deleted meanwhile. */
    const changes = (id: string) =>
      watch.ticks(id).pipe(
        Stream.mapEffect(() => Effect.flatten(repo.find(id))),
        Stream.mapBoth({ onFailure: () => new DeploymentNotFound(), onSuccess: told }),
        Stream.tap(watch.ended),
        Stream.changesWith((a, b) => a.stage === b.stage && a.status === b.status && a.note === b.note),
        Stream.takeUntil(({ status }) => isSettled(status))
      )

    /** Waits until the deployment serves or has failed. */
    const settled = Effect.fn("Deployments.settled")(function*(id: string) {
      yield* visible(id)
      const last = Option.getOrUndefined(yield* Stream.runLast(changes(id)))
      return last === undefined ? yield* new DeploymentNotFound() : yield* whole(last)
    }, either)

    /** `{ stage, message, step, total }` at each stage until the end; also for a deployment resumed after a restart. */
    const progress = (id: string) =>
      Stream.unwrap(Effect.as(either(visible(id)), changes(id))).pipe(
        Stream.map((row) => ({
          stage: row.stage,
          message: row.errorMessage ?? row.note ?? rules[row.stage].doing,
          ...stepOf(row.stage)
        }))
      )

    /** Waits for the end of a deployment, and reports each step and, every five seconds, what it waits for. */
    const follow = (id: string, report: Report) =>
      progress(id).pipe(
        remindingEvery(5),
        Stream.runForEach(({ message, step, total }) => report({ message, step, total })),
        Effect.zipRight(settled(id))
      )

    const asItIs = (id: string) => Effect.flatMap(visible(id), whole)
    const awaitEnd = awaitingEnd({ ending: reaches(shares.answers), follow, logs, now: asItIs })

    /** Ends a deployment before it serves; the version that serves goes on. */
    const cancel = Effect.fn("Deployments.cancel")(function*(serverId: string, id: string) {
      const row = yield* visibleOf(serverId, id)
      const by = canceledBy(yield* CurrentActor)
      const outcome = yield* outcomes.cancel(id, serverId, by)
      if (Option.isNone(outcome)) return yield* new DeploymentNotFound()
      const { canceled, status } = outcome.value
      if (!canceled) return yield* new DeploymentEnded({ status })
      yield* watch.changed(id)
      yield* logs.append(serverId, [{ level: "warn", message: `Deployment ${row.version}: ${by}` }])
      return yield* whole(yield* visible(id))
    }, writes)

    /** The version that serves; none where the server is stopped or in error. */
    const servingVersion = Effect.fn("Deployments.servingVersion")(function*(serverId: string) {
      const { activeDeploymentId, status } = yield* Effect.mapError(
        servers.visible(serverId),
        () => new DeploymentNotFound()
      )
      if (activeDeploymentId === null || status !== "running") return undefined
      return Option.getOrUndefined(yield* repo.find(activeDeploymentId))?.version
    })

    const waiting = waitingFor({ follow, now: asItIs, serving: servingVersion })

    const waitFor = (
      { deploymentId, serverId }: { readonly deploymentId: string; readonly serverId?: string | undefined },
      seconds: number,
      report: Report
    ) => either(Effect.zipRight(visibleOf(serverId, deploymentId), waiting(deploymentId, seconds, report)))

    const listed = (rows: ReadonlyArray<DeploymentRow>): Effect.Effect<ReadonlyArray<ListedDeployment>> =>
      Effect.map(
        handshakes.summaries(rows.map(({ id }) => id)),
        (summaries) => rows.map((row) => listedView(told(row), summaries.get(row.id) ?? null))
      )

    /** Newest first. */
    const list = Effect.fn("Deployments.list")(function*(serverId: string, request: PageRequest) {
      const server = yield* servers.visible(serverId)
      return yield* paginate({
        list: `deployments ${server.id}`,
        request,
        isKey: (text) => /^[1-9]\d{0,8}$/.test(text),
        read: (after, count) =>
          Effect.flatMap(repo.page(server.id, after === undefined ? undefined : Number(after), count), listed),
        keyOf: ({ version }) => String(version),
        total: () => repo.total(server.id)
      })
    }, reads)

    /** What was found in its image, the worst first. */
    const vulnerabilities = Effect.fn("Deployments.vulnerabilities")(
      (serverId: string, id: string, request: VulnerabilitiesRequest) =>
        Effect.flatMap(visibleOf(serverId, id), (row) => scans.list(row.id, row.scanId, request)),
      reads
    )

    const writing = { deploy, rollback, cancel }
    return { ...writing, get, settled, progress, follow, awaitEnd, waitFor, list, vulnerabilities } as const
  })
}) {}
