<?php

declare(strict_types=1);

namespace SiteConnector;

/** The service cannot be reached, the connection broke, or no response arrived in time. */
final class TransportError extends \RuntimeException
{
}
