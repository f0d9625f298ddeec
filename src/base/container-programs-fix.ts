/** What to do where the programs are missing that containers of ordinary images need. */
export const CONTAINER_PROGRAMS_FIX = 'apt-get install crun slirp4netns iproute2 util-linux';
