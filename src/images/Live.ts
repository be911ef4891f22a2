import { PlatformEvents } from "#src/shared/PlatformEvents.ts"
import { Effect, Layer } from "effect"
import { HeldBlobs } from "./HeldBlobs.ts"
import { ImageCleanup } from "./ImageCleanup.ts"
import { Images } from "./Images.ts"
import { Mirror } from "./Mirror.ts"
import { StoredImages } from "./StoredImages.ts"
import { Teardown } from "./Teardown.ts"

const following = Layer.effectDiscard(
  Effect.flatMap(
    Effect.all([PlatformEvents, Teardown]),
    ([events, teardown]) => events.follow("goneServers", teardown.ofServers)
  )
)

export const ImagesLive = Layer.mergeAll(
  Layer.provideMerge(Mirror.Default, Images.Default),
  HeldBlobs.Default,
  StoredImages.Default,
  following.pipe(Layer.provideMerge(Teardown.Default), Layer.provideMerge(ImageCleanup.Default))
)
