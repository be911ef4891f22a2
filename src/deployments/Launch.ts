import { ReadyConfigs } from "#src/businesses/ReadyConfigs.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { Images, type ResolvedImage } from "#src/images/Images.ts"
import { Machines } from "#src/machines/Machines.ts"
import { ReadyImage } from "#src/ready-image/ReadyImage.ts"
import { publicUrl } from "#src/servers/addresses.ts"
import { Environment } from "#src/servers/Environment.ts"
import { type ServerRow } from "#src/servers/Server.ts"
import { Effect, Option } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { machineEnvironment } from "./machine-environment.ts"
import { MachineOutput } from "./MachineOutput.ts"

/** Makes the machine of a deployment, and takes it away. A machine is named after its deployment. */
export class Launch extends Effect.Service<Launch>()("deployments/Launch", {
  effect: Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const images = yield* Images
    const machines = yield* Machines
    const environment = yield* Environment
    const configs = yield* ReadyConfigs
    const output = yield* MachineOutput
    const readyImage = yield* ReadyImage

    const pull = (imageUri: string, digest: string) => Effect.flatMap(images.pinned(imageUri, digest), images.mirror)

    /**
     * Has the image of a deployment in the store: from where it came, by its digest, or made again when it was made here.
     * A home that is new, after a restore, has none.
     */
    const fetch = Effect.fn("Launch.fetch")(function*({ imageUri }: DeploymentRow, digest: string) {
      if (yield* images.has(digest)) return
      yield* pull(imageUri, digest).pipe(
        Effect.catchIf(
          () => readyImage.isMade(imageUri),
          () => Effect.flatMap(readyImage.reference, (made) => pull(made, digest))
        )
      )
    })

    /** The image can be gone from the store: its collection does not see what happens between two stages. */
    const unpack = (record: DeploymentRow, digest: string, resolved: ResolvedImage | null, most = Infinity) =>
      images.unpack(digest, most).pipe(
        Effect.catchIf(
          (error) => error.reason === "not_found",
          () =>
            Effect.zipRight(
              resolved === null ? fetch(record, digest) : images.mirror(resolved),
              images.unpack(digest, most)
            )
        )
      )

    /** The machine, not started; one that exists already is taken as it is. */
    const provision = Effect.fn("Launch.provision")(function*(
      server: ServerRow,
      record: DeploymentRow,
      digest: string,
      resolved: ResolvedImage | null
    ) {
      const { id, port } = record
      const { config, rootfs } = yield* unpack(record, digest, resolved)
      // A machine that is made anew under its name writes its output from the start.
      if ((yield* machines.inspect(id)) === undefined) yield* output.forget(id)
      const customer = yield* environment.reveal(server.id)
      const ofBusiness = Option.map(yield* configs.ofServer(server.id), (value) => JSON.stringify(value))
      return yield* machines.provision({
        name: id,
        owner: server.id,
        rootfs,
        config,
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
      return yield* machines.start(machine)
    })

    /** SIGTERM and, by default, ten seconds of patience; what it wrote until then is kept. */
    const stop = Effect.fn("Launch.stop")(function*(machine: string, graceSeconds?: number) {
      yield* machines.stop(machine, graceSeconds)
      yield* output.caughtUp(machine)
    })

    const destroy = Effect.fn("Launch.destroy")(function*(machine: string, graceSeconds?: number) {
      yield* stop(machine, graceSeconds)
      yield* machines.destroy(machine)
      yield* output.forget(machine)
    })

    return { fetch, unpack, provision, start, stop, destroy } as const
  })
}) {}
