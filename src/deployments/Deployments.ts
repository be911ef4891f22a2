import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, seesProject, withPolicy } from "#src/accounts/Policy.ts"
import { Images } from "#src/images/Images.ts"
import { plans } from "#src/plans/Plan.ts"
import { Scans, type VulnerabilitiesRequest } from "#src/scanning/Scans.ts"
import { type ServerRow } from "#src/servers/Server.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Servers } from "#src/servers/Servers.ts"
import { Disk } from "#src/shared/Disk.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { isId, newId } from "#src/shared/ids.ts"
import { type PageRequest, paginate } from "#src/shared/paging.ts"
import { type Report } from "#src/shared/progress.ts"
import { UploadedImages } from "#src/uploads/UploadedImages.ts"
import { Effect, Option, Stream, Struct } from "effect"
import { awaitingEnd } from "./await-end.ts"
import { makeBegin } from "./begin.ts"
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
  VersionNotKept,
  view
} from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { HandshakesRepo } from "./HandshakesRepo.ts"
import { Mirroring } from "./Mirroring.ts"
import { canceledBy, nextStep } from "./next-step.ts"
import { OutcomesRepo } from "./OutcomesRepo.ts"
import { remindingEvery } from "./reminders.ts"
import { keptVersions } from "./retention-rule.ts"
import { refusal, stored } from "./run-options.ts"
import { isSettled, rules, stepOf } from "./transitions.ts"
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
    const images = yield* Images
    const mirroring = yield* Mirroring
    const scans = yield* Scans
    const watch = yield* Watch
    const uploads = yield* UploadedImages
    const begin = yield* makeBegin

    /** A key deploys what was pushed to its own project alone. */
    const checkImage = Effect.fn("Deployments.checkImage")(function*(imageUri: string) {
      const actor = yield* CurrentActor
      const project = yield* uploads.projectOf(actor.accountId, imageUri)
      if (Option.isSome(project) && !seesProject(actor, project.value)) {
        return yield* Invalid.field("imageUri", "is of a project that this key does not see")
      }
    })

    /** Starts a deployment and returns its `pending` record; `settled` waits for its end. */
    const deploy = Effect.fn("Deployments.deploy")(function*(
      serverId: string,
      { imageUri, ...input }: typeof DeployInput.Type
    ) {
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
    }, writes)

    /** The digest for a rollback to the version; fails when the plan's or the server's retention no longer keeps it. */
    const digestOf = Effect.fn("Deployments.digestOf")(function*(server: ServerRow, target: DeploymentRow) {
      const { version } = target
      const { plan } = yield* CurrentActor
      const notKept = (reason: string) => new VersionNotKept({ version, reason })
      if (target.deployedAt === null || target.imageDigest === null) return yield* notKept("it never ran")
      const kept = keptVersions(yield* repo.versions(server.id), plans[plan], server)
      if (!kept.has(version)) return yield* notKept("it is no longer kept")
      return (yield* images.has(target.imageDigest)) || (yield* mirroring.has(target.imageDigest))
        ? target.imageDigest
        : yield* notKept("its image is no longer kept")
    })

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
          imageDigest: yield* digestOf(server, target),
          rollbackOf: target.id,
          scanResult: target.scanResult,
          scanId: target.scanId,
          package: target.package,
          ...Struct.pick(target, "args", "command", "transport", "processes", "packageScripts")
        })
        return view(row, null)
      },
      writes
    )

    const visible = Effect.fn("Deployments.visible")(function*(id: string) {
      const row = isId("dep", id) ? yield* repo.find(id) : Option.none()
      if (Option.isNone(row)) return yield* new DeploymentNotFound()
      yield* Effect.mapError(servers.visible(row.value.serverId), () => new DeploymentNotFound())
      return row.value
    })

    /** With the tools of its server. */
    const whole = (row: DeploymentRow): Effect.Effect<Deployment> =>
      Effect.map(handshakes.find(row.id), (mcp) => view(row, Option.getOrNull(mcp)))

    const get = Effect.fn("Deployments.get")(function*(serverId: string, id: string) {
      const row = yield* visible(id)
      return row.serverId === serverId ? yield* whole(row) : yield* new DeploymentNotFound()
    }, reads)

    /** The record at each change until it has settled. Fails when the server is deleted meanwhile. */
    const changes = (id: string) =>
      watch.ticks(id).pipe(
        Stream.mapEffect(() => repo.find(id)),
        Stream.mapEffect(Option.match({ onNone: () => new DeploymentNotFound(), onSome: Effect.succeed })),
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

    const awaitEnd = awaitingEnd({ follow, logs, now: (id) => Effect.flatMap(visible(id), whole) })

    /** Ends a deployment before it serves; the version that serves goes on. */
    const cancel = Effect.fn("Deployments.cancel")(function*(serverId: string, id: string) {
      const row = yield* visible(id)
      if (row.serverId !== serverId) return yield* new DeploymentNotFound()
      const by = canceledBy(yield* CurrentActor)
      const outcome = yield* outcomes.cancel(id, serverId, by)
      if (Option.isNone(outcome)) return yield* new DeploymentNotFound()
      const { canceled, status } = outcome.value
      if (!canceled) return yield* new DeploymentEnded({ status })
      yield* watch.changed(id)
      yield* logs.append(serverId, [{ level: "warn", message: `Deployment ${row.version}: ${by}` }])
      return yield* whole(yield* visible(id))
    }, writes)

    /** Follows a deployment for at most so long, and says what to do next. */
    const waitFor = Effect.fn("Deployments.waitFor")(function*(id: string, seconds: number, report: Report) {
      const ended = yield* Effect.timeoutOption(follow(id, report), `${seconds} seconds`)
      const deployment = Option.isSome(ended) ? ended.value : yield* whole(yield* visible(id))
      return { ended: isSettled(deployment.status), next: nextStep(deployment), deployment }
    }, either)

    const listed = (rows: ReadonlyArray<DeploymentRow>): Effect.Effect<ReadonlyArray<ListedDeployment>> =>
      Effect.map(
        handshakes.summaries(rows.map(({ id }) => id)),
        (summaries) => rows.map((row) => listedView(row, summaries.get(row.id) ?? null))
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
    const vulnerabilities = Effect.fn("Deployments.vulnerabilities")(function*(
      serverId: string,
      id: string,
      request: VulnerabilitiesRequest
    ) {
      const row = yield* visible(id)
      if (row.serverId !== serverId) return yield* new DeploymentNotFound()
      return yield* scans.list(row.id, row.scanId, request)
    }, reads)

    return {
      deploy,
      rollback,
      get,
      settled,
      progress,
      follow,
      awaitEnd,
      waitFor,
      cancel,
      list,
      vulnerabilities
    } as const
  })
}) {}
