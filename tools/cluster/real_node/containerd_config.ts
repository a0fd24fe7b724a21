import { IMAGES } from "./images.ts";

/** The socket configured for kubelet; /run is private. */
export const RUNTIME_SOCKET = "/run/containerd.sock";

/** A folder for each registry, `HOST:PORT/ca.crt`, which containerd reads at each pull. */
export const REGISTRIES_FOLDER = "/run/registries";

export interface ContainerdFolders {
  /** What containerd keeps. */
  readonly root: string;
  /** Definition of the pods' network. */
  readonly networks: string;
  /** Programs that make it. */
  readonly plugins: string;
}

/** In the second version of the format, which every containerd from 1.3 on reads. */
export const configText = ({ root, networks, plugins }: ContainerdFolders): string => `
version = 2
root = "${root}"
state = "/run/containerd"
[grpc]
  address = "${RUNTIME_SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${IMAGES.pause}"
  # A host without CAP_SYS_RESOURCE may not lower the score; runc would die of it.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${REGISTRIES_FOLDER}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${plugins}"
    conf_dir = "${networks}"
`;
