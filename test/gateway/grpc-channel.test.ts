// The channel on grpc-js keeps the contract of channels.

import { grpcChannel } from '../../lib/gateway/channel/grpc-channel.ts';
import { channelContract } from '../contract/grpc-channel.ts';

channelContract('grpc-js channel', grpcChannel);
