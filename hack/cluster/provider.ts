/** A node that can be broken and mended. Every verb returns when its effect on the machine is there; Kubernetes notices later. */
export type NodeHandle = {
  name: string;
  address: string;
  /** Switches the node off in order. */
  stop(): Promise<void>;
  /** Switches the node on and waits until it is Ready. */
  start(): Promise<void>;
  /** Pulls the plug: all its processes die at once, its disk stays. */
  kill(): Promise<void>;
  /** Cuts the cable: its processes go on. */
  partition(): Promise<void>;
  /** Mends the cable. */
  heal(): Promise<void>;
};

/** The API server as something that can fail. */
export type ApiServerHandle = {
  stop(): Promise<void>;
  /** Starts it and waits until it is ready. */
  start(): Promise<void>;
  kill(): Promise<void>;
};

/** Paths of the command line tools that fit the cluster. */
export type Tools = {kubectl: string; crane: string; helm: string};

/** Address ranges in CIDR notation. */
export type Networks = {nodes: string; pods: string; services: string};

/** A cluster that answers. What a provider cannot do is refused with its reason when it is called. */
export type Cluster = {
  name: string;
  provider: string;
  kubeconfigPath: string;
  /** `host:port` of a registry, the same for this machine and for the nodes. */
  registry: string;
  /** JSON lines of audit events, where the API server's disk can be read. */
  auditLogPath?: string;
  /** The address of the API server as pods and this machine may use it. */
  apiServer?: {address: string; port: number};
  networks?: Networks;
  /** The address of the DNS Service. */
  dnsAddress?: string;
  /** An image with a shell and the usual small tools, by digest. */
  busyboxImage?: string;
  tools: Tools;
  nodes: readonly string[];
  kubectl(args: readonly string[], stdin?: string): Promise<string>;
  node(name: string): NodeHandle;
  apiserver: ApiServerHandle;
  /** Makes etcd forget every version but the newest: watches from older ones get 410. */
  compact(): Promise<void>;
};

/** What `up` may be told. */
export type UpOptions = {
  name: string;
  /** Default: as many as the cluster has, 2 for a new one. */
  nodes?: number;
  /** More flags for the API server; default: those the cluster was made with. */
  apiserverArgs?: readonly string[];
};

/** One line of `status`. */
export type StatusLine = {what: string; state: string; detail: string};

/** A way to get a cluster. `native` and `existing` are here; one more is a file with this shape and a line in cluster.ts. */
export type Provider = {
  name: string;
  up(options: UpOptions): Promise<Cluster>;
  down(name: string): Promise<void>;
  /** The cluster as it is, without changing anything. */
  open(name: string): Promise<Cluster>;
  status(name: string): Promise<StatusLine[]>;
  /** Log files by component. */
  logs(name: string): Promise<Record<string, string>>;
};
