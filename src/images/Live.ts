import { Layer } from "effect"
import { HeldBlobs } from "./HeldBlobs.ts"
import { ImageCleanup } from "./ImageCleanup.ts"
import { Images } from "./Images.ts"
import { StoredImages } from "./StoredImages.ts"
import { Teardown } from "./Teardown.ts"

export const ImagesLive = Layer.mergeAll(
  HeldBlobs.Default,
  Images.Default,
  StoredImages.Default,
  Layer.provideMerge(Teardown.Default, ImageCleanup.Default)
)
