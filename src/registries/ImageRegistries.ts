import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { Quotas } from "#src/accounts/Quotas.ts"
import { type Login } from "#src/images/login.ts"
import { parseReference, registryHost } from "#src/images/reference.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { isId, newId } from "#src/shared/ids.ts"
import { lineOf } from "#src/shared/outside-text.ts"
import { type PageRequest, paginate } from "#src/shared/paging.ts"
import { sealedColumn } from "#src/shared/sealed-column.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Either, Option, Redacted } from "effect"
import { ImageRegistriesRepo } from "./ImageRegistriesRepo.ts"
import {
  ImageRegistryExists,
  ImageRegistryId,
  type ImageRegistryInput,
  ImageRegistryInUse,
  ImageRegistryNotFound,
  type ImageRegistryUpdate,
  registriesPerAccount,
  TooManyRegistries
} from "./ImageRegistry.ts"

export const sealedPasswords = sealedColumn("image_registries", "sealed_password")

/** The context that a sealed password is bound to. */
const passwordContext = (id: string) => `registry ${id} password`

/** An account's credentials for private image registries. Managed by sessions only. */
export class ImageRegistries extends Effect.Service<ImageRegistries>()("registries/ImageRegistries", {
  effect: Effect.gen(function*() {
    const repo = yield* ImageRegistriesRepo
    const quotas = yield* Quotas
    const secrets = yield* Secrets
    const sql = yield* SqlClient.SqlClient

    const create = Effect.fn("ImageRegistries.create")(
      function*({ password, username, ...given }: typeof ImageRegistryInput.Type) {
        const { accountId } = yield* CurrentActor
        const id = ImageRegistryId.make(newId("reg"))
        const host = registryHost(given.host) ?? given.host
        const name = given.name ?? host
        const sealedPassword = yield* secrets.seal(password, passwordContext(id))
        yield* quotas.lock(accountId)
        if ((yield* repo.total(accountId)) >= registriesPerAccount) return yield* new TooManyRegistries()
        const row = yield* repo.insert({ id, accountId, host, name, username, sealedPassword })
        return yield* Option.match(row, {
          onNone: () => new ImageRegistryExists({ host, name }),
          onSome: Effect.succeed
        })
      },
      transactionally(sql),
      withPolicy(sessionOnly)
    )

    const list = Effect.fn("ImageRegistries.list")(function*(request: PageRequest) {
      const { accountId } = yield* CurrentActor
      return yield* paginate({
        list: `registries ${accountId}`,
        request,
        isKey: (text) => isId("reg", text),
        read: (after, count) => repo.page(accountId, after, count),
        keyOf: (registry) => registry.id,
        total: () => repo.total(accountId)
      })
    }, withPolicy(sessionOnly))

    const update = Effect.fn("ImageRegistries.update")(
      function*(id: string, { password, username }: typeof ImageRegistryUpdate.Type) {
        const { accountId } = yield* CurrentActor
        if (username === undefined && password === undefined) {
          return yield* Invalid.field("", "at least one field is required")
        }
        if (!isId("reg", id)) return yield* new ImageRegistryNotFound()
        const sealed = password === undefined ? undefined : yield* secrets.seal(password, passwordContext(id))
        const row = yield* repo.update(id, accountId, username, sealed)
        return yield* Option.match(row, { onNone: () => new ImageRegistryNotFound(), onSome: Effect.succeed })
      },
      withPolicy(sessionOnly)
    )

    /** One that servers name stays: without it they would silently have another user's images, or none. */
    const remove = Effect.fn("ImageRegistries.remove")(
      function*(id: string) {
        const { accountId } = yield* CurrentActor
        yield* quotas.lock(accountId)
        const found = isId("reg", id) ? yield* repo.find(id, accountId) : Option.none()
        if (Option.isNone(found)) return yield* new ImageRegistryNotFound()
        const { name } = found.value
        const servers = yield* repo.namedBy(accountId, name)
        if (servers.length > 0) {
          return yield* new ImageRegistryInUse({ name, servers: servers.map(({ id, name }) => `${name} (${id})`) })
        }
        yield* repo.remove(id, accountId)
      },
      transactionally(sql),
      withPolicy(sessionOnly)
    )

    /**
     * What a server may name, as it is stored. In the transaction that writes the server: until its end the account's
     * credentials stay.
     */
    const named = Effect.fn("ImageRegistries.named")(function*(given: string | null) {
      // A host's own is what its images have by themselves.
      if (given === null || registryHost(given) !== undefined) return null
      const { accountId } = yield* CurrentActor
      yield* quotas.lock(accountId)
      if (yield* repo.has(accountId, given)) return given
      return yield* Invalid.field(
        "registryCredential",
        `must name credentials of your account, which has none of the name ${JSON.stringify(lineOf(given, 60))}: ` +
          "list_registries (GET /v1/registries) tells their names"
      )
    })

    /**
     * What an account logs in with where an image comes from; undefined when it has nothing for that registry. What a
     * server names is for images of its host alone.
     */
    const loginFor = Effect.fn("ImageRegistries.loginFor")(function*(
      accountId: string,
      imageUri: string,
      registryCredential: string | null
    ) {
      const reference = parseReference(imageUri)
      if (Either.isLeft(reference) || reference.right._tag !== "Registry") return undefined
      const row = yield* repo.sealed(accountId, reference.right.registry, registryCredential)
      if (Option.isNone(row)) return undefined
      const { id, name, sealedPassword, username } = row.value
      const password = Redacted.make(yield* secrets.open(sealedPassword, passwordContext(id)))
      return { name, username, password } satisfies Login
    })

    return { create, list, update, remove, named, loginFor } as const
  })
}) {}
