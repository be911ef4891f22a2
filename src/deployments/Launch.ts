import { CurrentSettings } from "#src/config/Settings.ts"
import { Images, type ResolvedImage } from "#src/images/Images.ts"
import { type Login } from "#src/images/login.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Packages } from "#src/packages/Packages.ts"
import { isPackage } from "#src/packages/reference.ts"
import { ReadyImage } from "#src/ready-image/ReadyImage.ts"
import { publicUrl } from "#src/servers/addresses.ts"
import { BusinessConfigs } from "#src/servers/BusinessConfigs.ts"
import { Environment } from "#src/servers/Environment.ts"
import { type ServerRow } from "#src/servers/Server.ts"
import { MachineMetering } from "#src/usage/MachineMetering.ts"
import { Effect, Option } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { awaitHealthy, healthRule } from "./HealthCheck.ts"
import { makeMachineEnd } from "./machine-end.ts"
import { machineEnvironment } from "./machine-environment.ts"
import { MachineOutput } from "./MachineOutput.ts"
import { Mirroring } from "./Mirroring.ts"
import { PackageScripts } from "./PackageScripts.ts"
import { makeHolder, makePullLogin } from "./pull-login.ts"
import { runConfig } from "./run-options.ts"

/** Creates and destroys the machine of a deployment. A machine has the id of its deployment as its name. */
export class Launch extends Effect.Service<Launch>()("deployments/Launch", {
  effect: Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const images = yield* Images
    const machines = yield* Machines
    const environment = yield* Environment
    const configs = yield* BusinessConfigs
    const output = yield* MachineOutput
    const readyImage = yield* ReadyImage
    const packages = yield* Packages
    const scripts = yield* PackageScripts
    const deployments = yield* DeploymentsRepo
    const mirroring = yield* Mirroring
    const { destroy, stop } = yield* makeMachineEnd
    const { settle } = yield* MachineMetering

    const loginOf = yield* makePullLogin
    const holderOf = yield* makeHolder

    const mirror = Effect.fnUntraced(function*(record: DeploymentRow, resolved: ResolvedImage, login?: Login) {
      yield* images.mirror(resolved, login, undefined, yield* holderOf(record))
    })
    const pull = (record: DeploymentRow, imageUri: string, digest: string, login?: Login) =>
      Effect.flatMap(images.pinned(imageUri, digest, login), (resolved) => mirror(record, resolved, login))

    /**
     * Ensures that the store has a deployment's image: pulls it by digest, from the operator's registry first, or builds
     * it again if it was built here. After a restore into a new home the store is empty.
     */
    const fetch = Effect.fn("Launch.fetch")(function*(record: DeploymentRow, digest: string) {
      const { imageUri } = record
      if (yield* images.has(digest)) return
      if (yield* mirroring.pull(digest, imageUri)) return
      if (isPackage(imageUri)) return yield* packages.again(imageUri, digest, scripts.of(record))
      yield* Effect.flatMap(loginOf(record), (login) => pull(record, imageUri, digest, login)).pipe(
        Effect.catchIf(
          () => readyImage.isLocalBuild(imageUri),
          () => Effect.flatMap(readyImage.reference, (reference) => pull(record, reference, digest))
        )
      )
    })

    /**
     * The image may be missing: the collection of unused images can remove it between two stages, and unpacking removes
     * what was damaged on disk.
     */
    const unpack = (record: DeploymentRow, digest: string, resolved: ResolvedImage | null, most = Infinity) =>
      Effect.catchAll(images.unpack(digest, most), (error) =>
        Effect.gen(function*() {
          if (error.reason !== "not_found" && (yield* images.has(digest))) return yield* error
          yield* resolved === null || isPackage(record.imageUri)
            ? fetch(record, digest)
            : Effect.flatMap(loginOf(record), (login) => mirror(record, resolved, login))
          return yield* images.unpack(digest, most)
        }))

    /** Creates the machine without starting it. Idempotent: an existing one is used as it is. */
    const provision = Effect.fn("Launch.provision")(function*(
      server: ServerRow,
      record: DeploymentRow,
      digest: string,
      resolved: ResolvedImage | null
    ) {
      const { id, port } = record
      const { config, rootfs } = yield* unpack(record, digest, resolved)
      // A new machine of this name starts its output at position 0.
      if ((yield* machines.inspect(id)) === undefined) yield* output.forget(id)
      const customer = yield* environment.reveal(server.id)
      const ofBusiness = Option.map(yield* configs.ofServer(server.id), (value) => JSON.stringify(value))
      return yield* machines.provision({
        name: id,
        owner: server.id,
        rootfs,
        config: runConfig(config, record.imageUri, record, server.memoryMb),
        port,
        cpu: server.cpu,
        memoryMb: server.memoryMb,
        ...machineEnvironment(customer, {
          ...server,
          port,
          subdomain: `${server.slug}.${settings.mcpDomain}`,
          authUrl: settings.authUrl,
          publicUrl: publicUrl(settings, server.slug)
        }, Option.getOrUndefined(ofBusiness))
      })
    })

    const start = Effect.fn("Launch.start")(function*(serverId: string, machine: string) {
      yield* output.follow(machine, serverId)
      const ran = (yield* machines.inspect(machine))?.status === "running"
      if (!ran) yield* settle(machine)
      const state = yield* machines.start(machine)
      if (!ran) yield* deployments.started(machine)
      return state
    })

    /** Whether a deployment's machine can't be made, or started, of what is on this host. */
    const lacksImage = Effect.fn("Launch.lacksImage")(function*({ id, imageDigest }: DeploymentRow) {
      if (imageDigest === null || (yield* images.has(imageDigest))) return false
      return (yield* machines.inspect(id)) === undefined || !(yield* images.isUnpacked(imageDigest))
    })

    /** Starts the machine of a deployment, provisioned again if it is gone. */
    const startAgain = Effect.fn("Launch.startAgain")(function*(server: ServerRow, deployment: DeploymentRow) {
      const { id, imageDigest } = deployment
      if (imageDigest !== null) {
        if ((yield* machines.inspect(id)) === undefined) yield* provision(server, deployment, imageDigest, null)
        else if (!(yield* images.isUnpacked(imageDigest))) yield* unpack(deployment, imageDigest, null)
      }
      yield* start(server.id, id)
    })

    /** The same, and waits until it is healthy. */
    const bringUp = Effect.fn("Launch.bringUp")(function*(server: ServerRow, deployment: DeploymentRow) {
      yield* startAgain(server, deployment)
      yield* Effect.provideService(awaitHealthy(healthRule(server, deployment)), Machines, machines)
    })

    return { fetch, unpack, provision, lacksImage, start, startAgain, bringUp, stop, destroy } as const
  })
}) {}
