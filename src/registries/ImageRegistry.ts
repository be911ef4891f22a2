import { registryHost } from "#src/images/reference.ts"
import { isLabel } from "#src/shared/dns-label.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Id } from "#src/shared/ids.ts"
import { Input, Name, optional, Text, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"

export const ImageRegistryId = Id("ImageRegistryId", "Image registry id, reg_ and a ULID")

/** Credentials of an account for a private image registry. The password is stored encrypted and never returned. */
export const ImageRegistry = Schema.Struct({
  id: ImageRegistryId,
  host: Schema.String.annotations({
    description: "As image addresses resolve it: registry-1.docker.io for Docker Hub"
  }),
  name: Schema.String.annotations({
    description:
      "What a server names it by (registryCredential); the host, of the one that its images have by themselves"
  }),
  username: Schema.String,
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotations({ title: "ImageRegistry" })

export const ImageRegistryRow = Schema.Struct({
  ...ImageRegistry.fields,
  createdAt: Schema.DateFromSelf,
  updatedAt: Schema.DateFromSelf
})

const Host = Text(255).pipe(
  Schema.filter(
    (text) =>
      registryHost(text) !== undefined ||
      "must be a registry's host with an optional port, such as ghcr.io or registry.example.com:5000",
    { jsonSchema: {} }
  )
)

/** RFC 7617 §2: a colon would end the user's name. */
const Username = Name.pipe(
  Schema.filter((text) => !text.includes(":") || "must not contain a colon", { jsonSchema: {} })
)

/** As long as the key files and tokens that registries take for a password; they have line ends, too. */
const Password = Text(16_384).pipe(
  Schema.filter((text) => text !== "" || "must not be empty", { jsonSchema: { minLength: 1 } })
)

/** What names a host is its own credential's. */
const CredentialName = Text(63).pipe(
  Schema.filter(
    (text) =>
      registryHost(text) === undefined
        ? isLabel(text) || "must be 1 to 63 lower-case letters, digits and inner hyphens"
        : "must not be a host: without a name these are the host's own credentials",
    { jsonSchema: { pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$" } }
  ),
  Schema.annotations({ description: "Of a further one for the host, for servers that name it" })
)

export const ImageRegistryInput = Input({
  host: Host,
  name: optional(CredentialName),
  username: Username,
  password: Password
})

export const updateFields = { username: optional(Username), password: optional(Password) }
export const ImageRegistryUpdate = Input(updateFields)

/** At most so many an account. */
export const registriesPerAccount = 50

export class ImageRegistryNotFound
  extends Schema.TaggedError<ImageRegistryNotFound>()("ImageRegistryNotFound", {}, failsWith(404))
{
  override get message() {
    return "There is no such registry"
  }
}

export class ImageRegistryExists extends Schema.TaggedError<ImageRegistryExists>()("ImageRegistryExists", {
  host: Schema.String,
  name: Schema.String
}, failsWith(409)) {
  override get message() {
    const which = this.name === this.host ? `for ${this.host}` : `named ${this.name}`
    return `The account has credentials ${which} already: change them (update_registry, PATCH /v1/registries/{id}), ` +
      "delete them first, or give these another name"
  }
}

export class ImageRegistryInUse extends Schema.TaggedError<ImageRegistryInUse>()("ImageRegistryInUse", {
  name: Schema.String,
  servers: Schema.Array(Schema.String)
}, failsWith(409)) {
  override get message() {
    const [some, more] = [this.servers.slice(0, 5).join(", "), this.servers.length - 5]
    return `Servers name the credentials ${this.name}: ${some}${more > 0 ? ` and ${more} more` : ""}. Have them name ` +
      "others, or a host for those of their image's host, first (registryCredential of update_server, " +
      "PATCH /v1/servers/{id})"
  }
}

export class TooManyRegistries
  extends Schema.TaggedError<TooManyRegistries>()("TooManyRegistries", {}, failsWith(409))
{
  override get message() {
    return `An account can have at most ${registriesPerAccount} credentials for registries; delete one first`
  }
}
